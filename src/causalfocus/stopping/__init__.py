"""When to stop."""

from causalfocus.stopping.alarms import Alarm
from causalfocus.stopping.certificate import EvidenceDecision, EvidenceRule, Interval
from causalfocus.stopping.decision import Decision
from causalfocus.stopping.measure import evidence
from causalfocus.stopping.paper import PaperConstants, PaperDecision, PaperRule, paper_log_tail
from causalfocus.stopping.resolution import Move, Reorder, ResolutionDecision, ResolutionRule

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
