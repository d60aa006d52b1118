"""What a look at all rivals leaves for the rounds until the next one."""

from dataclasses import dataclass

from causalfocus.arrays import Floats


@dataclass(frozen=True)
class Lags:
    """Where the evidence lags behind.

    Attributes
    ----------
    edges : (p, p), for every pair (effect, cause) the evidence that the certificate has on it, less
        what a quick look takes it to be; zero where the certificate says nothing of the pair
    start : (r,), evidence against rivals that lag, less what the rounds so far would tell
    gains : (r, k), what one round of every action tells against each
    """

    edges: Floats
    start: Floats
    gains: Floats

    def evidence(self, counts: Floats) -> Floats:
        """Against the rivals after some rounds of each action."""
        found: Floats = self.start + self.gains @ counts
        return found
