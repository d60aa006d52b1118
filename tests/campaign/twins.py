"""Learners that must be equal to the bit, whatever way their samples came."""

from dataclasses import replace

import causalfocus as cf
from campaign.hands import SYSTEM
from causalfocus.campaign import Campaign
from causalfocus.campaign.playback import Playback
from causalfocus.learner.parts import are_same
from worlds import Rig, rig


def answer(campaign: Campaign, system: Rig) -> None:
    """One round: do what is asked, and record what came of it."""
    (asked,) = campaign.next()
    campaign.record(system(asked.action), id=asked.id)


def fill(campaign: Campaign, n: int, seed: int = 0) -> None:
    """So many rounds with the system of the other hands."""
    system = rig(seed, SYSTEM)
    for _ in range(n):
        answer(campaign, system)


def play_whole(campaign: Campaign) -> Playback:
    """The same events played from the first to the last, without file or checkpoint."""
    found = Playback(campaign.specification, campaign._ledger.root)
    for event in campaign.iterate():
        found.play(event)
    return found


def is_same(one: cf.Focus, other: cf.Focus) -> bool:
    """Whether two learners are equal to the bit in all that they have learned, whoever asked."""
    return (
        are_same(replace(one.state, asks=other.state.asks), other.state)
        and one.decision.evidence == other.decision.evidence
        and one.decision.reason == other.decision.reason
        and one.result() == other.result()
    )
