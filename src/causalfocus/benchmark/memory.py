"""Peak memory of one joint MLE, each in a process of its own."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

_SCRIPT = """
import json, re, sys
from pathlib import Path
from causalfocus import OBSERVE, PAPER_CLASS, Moments, joint_mle, random_sem
from causalfocus.benchmark.problems import problem

problem(3, 0)  # loads the kernels
p = int(sys.argv[1])
truth = random_sem(p, density=0.2, seed=p)
moments = Moments.expected(truth, {OBSERVE: 1000.0})


def kilobytes(key):
    return int(re.search(key + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])


Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew from here
before = kilobytes("VmRSS")
joint_mle(moments, PAPER_CLASS)
print(json.dumps((kilobytes("VmHWM") - before) * 1024))
"""


@dataclass(frozen=True)
class PeakMemory:
    """What one joint MLE added to the peak memory of its process, in bytes."""

    p: int
    measured: int

    @property
    def table(self) -> int:
        """The table of families, p 2^(p-1) doubles."""
        return self.p * (1 << (self.p - 1)) * 8


def peak_memory(sizes: range) -> Iterator[PeakMemory]:
    """One row per number of nodes. Linux only."""
    for p in sizes:
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", _SCRIPT, str(p)], check=True, capture_output=True, text=True
        )
        yield PeakMemory(p, json.loads(done.stdout))
