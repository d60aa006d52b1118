"""When to stop."""

from causalfocus.guarantees.alarms import Alarm
from causalfocus.guarantees.class_ import EvidenceDecision, EvidenceRule, Interval
from causalfocus.guarantees.decision import Decision
from causalfocus.guarantees.gaussian import Move, Reorder, ResolutionDecision, ResolutionRule
from causalfocus.guarantees.measure import evidence
from causalfocus.guarantees.paper import PaperConstants, PaperDecision, PaperRule, paper_log_tail

__all__ = [
    "Alarm",
    "Decision",
    "EvidenceDecision",
    "EvidenceRule",
    "Interval",
    "Move",
    "PaperConstants",
    "PaperDecision",
    "PaperRule",
    "Reorder",
    "ResolutionDecision",
    "ResolutionRule",
    "evidence",
    "paper_log_tail",
]
