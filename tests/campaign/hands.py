"""Other processes at work on a campaign file, for the tests: `python hands.py ROLE FILE`.

A writer asks and records, and says on its standard output what was acknowledged; a reader looks and
says how many rounds it saw.
"""

import sys
import time
from pathlib import Path

import numpy as np

import causalfocus as cf
from causalfocus.campaign import Campaign
from causalfocus.campaign.export import samples_csv
from causalfocus.campaign.status import status
from causalfocus.guarantees import DEFAULT_RULE

SYSTEM = cf.random_sem(3, density=0.7, seed=5)
ACTIONS = cf.ActionSet(dict.fromkeys(SYSTEM.names, (-2.0, 2.0)))
SPACE = cf.ModelClass(min_effect=0.2)

PAIR = cf.random_sem(2, density=1.0, seed=3)
PAIR_ACTIONS = cf.ActionSet(dict.fromkeys(PAIR.names, (-2.0, 2.0)))


def new_campaign(path: Path, rule: str = DEFAULT_RULE) -> Campaign:
    """A campaign about the system, that will not stop soon."""
    return Campaign.create(path, ACTIONS, SPACE, epsilon=0.01, rule=rule, seed=0)


def new_pair_campaign(path: Path, rule: str = DEFAULT_RULE) -> Campaign:
    """A campaign about the pair, that stops soon."""
    space = cf.ModelClass(min_effect=0.4)
    return Campaign.create(path, PAIR_ACTIONS, space, epsilon=0.2, rule=rule, seed=0)


def write(path: Path, name: str, seconds: float) -> None:
    """Record until the time is up, or for ever; the note tells the samples apart."""
    rng = np.random.default_rng(abs(hash(name)) % 2**32)
    end = time.monotonic() + seconds
    number = 0
    with Campaign.open(path) as campaign:
        while time.monotonic() < end:
            (asked,) = campaign.next(who=name)
            sample = SYSTEM.sample(asked.action, 1, rng)[0]
            event = campaign.record(sample, id=asked.id, who=name, note=f"{name} {number}")
            number += 1
            sys.stdout.write(f"{event.round} {event.note} {sample.tolist()!r}\n")
            sys.stdout.flush()


def read(path: Path, seconds: float) -> None:
    """Look at everything again and again; rounds may only grow."""
    end, before = time.monotonic() + seconds, 0
    with Campaign.open(path, read_only=True) as campaign:
        while time.monotonic() < end:
            seen = status(campaign, foretell=False)
            if seen.rounds < before:
                raise RuntimeError(f"{seen.rounds} rounds after {before}")
            before = seen.rounds
            lines = sum(1 for _ in samples_csv(campaign)) - 1
            if lines < seen.rounds:
                raise RuntimeError(f"{lines} samples after {seen.rounds} rounds")
            campaign.events(search="told", limit=20, newest=True)
            time.sleep(0.05)
    sys.stdout.write(f"{before}\n")


if __name__ == "__main__":
    role, place, *more = sys.argv[1:]
    if role == "write":
        write(Path(place), more[0], float(more[1]))
    else:
        read(Path(place), float(more[0]))
