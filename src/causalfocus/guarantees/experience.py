"""How runs differed from what was foretold on their way, by rule.

Measured on 120 drawn systems a rule, of three, four and six variables, one of them set at a time or
any number, at nine marks of the way each: quantiles of the rounds to go over those foretold, as
lines in the logarithm between five shares of the way. The ends are those of 86 runs of a hundred,
so that other systems are inside in four of five; `causalfocus benchmark foretelling` counts that
on seeds that were not used here. Beyond the last share more was done than is foretold in all.
"""

from typing import Final

from causalfocus.guarantees.terms import Spreads

ALONG: Final = (0.1, 0.35, 0.6, 0.8, 0.95)

OF_RANDOMIZED: Final = Spreads(
    along=ALONG,
    low=(0.55, 0.35, 0.48, 0.5, 0.5),
    middle=(0.92, 0.73, 0.81, 0.92, 1.34),
    high=(1.2, 1.1, 1.35, 1.4, 3.4),
)

OF_GAUSSIAN: Final = Spreads(
    along=ALONG,
    low=(0.6, 0.63, 0.31, 0.14, 0.5),
    middle=(0.95, 0.92, 0.81, 0.68, 1.92),
    high=(1.4, 1.65, 1.65, 2.6, 8.0),
)

OF_CLASS: Final = Spreads(
    along=ALONG,
    low=(0.18, 0.48, 0.26, 0.15, 0.5),
    middle=(0.89, 0.95, 0.68, 0.6, 2.71),
    high=(1.5, 1.75, 2.2, 2.0, 14.0),
)
