"""When to stop."""

from causalfocus.stopping.certificate import EvidenceDecision, EvidenceRule, Interval, evidence
from causalfocus.stopping.decision import Decision
from causalfocus.stopping.paper import PaperConstants, PaperDecision, PaperRule, paper_log_tail

__all__ = [
    "Decision",
    "EvidenceDecision",
    "EvidenceRule",
    "Interval",
    "PaperConstants",
    "PaperDecision",
    "PaperRule",
    "evidence",
    "paper_log_tail",
]
