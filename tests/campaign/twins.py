"""Learners that must be equal to the bit, whatever way their samples came."""

import numpy as np

import causalfocus as cf
from campaign.hands import SYSTEM
from causalfocus.campaign import Campaign
from causalfocus.campaign.playback import Playback
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
    """Whether two learners are equal to the bit, in all that the next rounds depend on."""
    a, b = one._moments._state, other._moments._state
    arrays = [
        (a.sums, b.sums),
        (a.origins, b.origins),
        (a.watch.sums, b.watch.sums),
        (a.watch.firsts, b.watch.firsts),
        *((a.watch.marks[m], b.watch.marks[m]) for m in {*a.watch.marks, *b.watch.marks}),
        *((x[2], y[2]) for x, y in zip(a.anchors.samples, b.anchors.samples, strict=True)),
        (one._cumulative, other._cumulative),
        (one._hedge.weights, other._hedge.weights),
        (one._hedge._cumulative, other._hedge._cumulative),
        (one.estimate.weights, other.estimate.weights),
        (one._counts, other._counts),
        *((a.marks[m], b.marks[m]) for m in {*a.marks, *b.marks}),
    ]
    now, then = one._now, other._now
    aims = (np.zeros(0) if j.aim is None else j.aim for j in (now, then))
    return (
        all(np.array_equal(x, y, equal_nan=True) for x, y in [*arrays, tuple(aims)])
        and (a.n, a.is_sure, a.watch.n) == (b.n, b.is_sure, b.watch.n)
        and [x[:2] for x in a.anchors.samples] == [y[:2] for y in b.anchors.samples]
        and one.continued_at == other.continued_at
        and (now.next_look, now.next_check) == (then.next_look, then.next_check)
        and one.decision.evidence == other.decision.evidence
        and one.decision.reason == other.decision.reason
        and one.result() == other.result()
        and one._hedge.gap == other._hedge.gap
    )
