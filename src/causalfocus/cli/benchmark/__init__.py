"""`causalfocus benchmark`: the measurements behind the figures of the documents."""

import typer

from causalfocus.cli.benchmark.baselines import baselines
from causalfocus.cli.benchmark.blocks import blocks
from causalfocus.cli.benchmark.campaigns import campaigns
from causalfocus.cli.benchmark.certificates import certificates
from causalfocus.cli.benchmark.coins import coins, large
from causalfocus.cli.benchmark.columns import columns
from causalfocus.cli.benchmark.constant import constant
from causalfocus.cli.benchmark.costs import costs
from causalfocus.cli.benchmark.coverage import coverage
from causalfocus.cli.benchmark.engine import engine
from causalfocus.cli.benchmark.equations import equations
from causalfocus.cli.benchmark.foretelling import foretell
from causalfocus.cli.benchmark.questions import plant, questions
from causalfocus.cli.benchmark.several import several
from causalfocus.cli.benchmark.today import today
from causalfocus.cli.benchmark.violations import violations

benchmark = typer.Typer(
    help="Measure speed, rounds and errors: the figures of the documents, again.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
benchmark.command("engine")(engine)
benchmark.command("certificates")(certificates)
benchmark.command("constant")(constant)
benchmark.command("several")(several)
benchmark.command("questions")(questions)
benchmark.command("plant")(plant)
benchmark.command("coins")(coins)
benchmark.command("large")(large)
benchmark.command("columns")(columns)
benchmark.command("costs")(costs)
benchmark.command("blocks")(blocks)
benchmark.command("violations")(violations)
benchmark.command("equations")(equations)
benchmark.command("coverage")(coverage)
benchmark.command("foretelling")(foretell)
benchmark.command("today")(today)
benchmark.command("baselines")(baselines)
benchmark.command("campaigns")(campaigns)

__all__ = ["benchmark"]
