"""When to stop."""

from causalfocus.stopping.decision import Decision
from causalfocus.stopping.paper import PaperConstants, PaperDecision, PaperRule, paper_log_tail

__all__ = ["Decision", "PaperConstants", "PaperDecision", "PaperRule", "paper_log_tail"]
