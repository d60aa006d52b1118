"""The rules: what is assumed, what is claimed, and when the data are sufficient for it."""

from causalfocus.guarantees.alarm import Alarm
from causalfocus.guarantees.decision import Decision
from causalfocus.guarantees.guarantee import Guarantee
from causalfocus.guarantees.measure import evidence
from causalfocus.guarantees.paper import paper_log_tail
from causalfocus.guarantees.rules import DEFAULT_RULE, RULES, Rule, guarantee_of
from causalfocus.guarantees.terms import Rival
from causalfocus.guarantees.verdicts import Interval, Verdict

__all__ = [
    "DEFAULT_RULE",
    "RULES",
    "Alarm",
    "Decision",
    "Guarantee",
    "Interval",
    "Rival",
    "Rule",
    "Verdict",
    "evidence",
    "guarantee_of",
    "paper_log_tail",
]
