"""The benchmark's figures as Markdown and as JSON."""

import importlib.metadata
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from causalfocus.benchmark.baseline_tables import (
    curve_table,
    learner_table,
    recovery_table,
    schedule_table,
)
from causalfocus.benchmark.baselines import Curve, LearnerTimes, Recovery, ScheduleRow
from causalfocus.benchmark.blocks import BlockSummary, block_table
from causalfocus.benchmark.campaigns import CampaignTimes, campaign_table
from causalfocus.benchmark.certificates import DELTAS, CertificateSummary
from causalfocus.benchmark.coins import CoinSummary, LargeRun, coin_table, large_table
from causalfocus.benchmark.column_table import column_table
from causalfocus.benchmark.columns import ColumnRun
from causalfocus.benchmark.constant import SplitSummary
from causalfocus.benchmark.costs import CostSummary
from causalfocus.benchmark.coverage import Coverage, coverage_table
from causalfocus.benchmark.foretelling import Foretelling, foretelling_table
from causalfocus.benchmark.game import GameTimes
from causalfocus.benchmark.literal import Ratio
from causalfocus.benchmark.memory import PeakMemory
from causalfocus.benchmark.oracles import OracleTimes, growth_per_node
from causalfocus.benchmark.plant import PlantSummary, plant_table
from causalfocus.benchmark.problems import DENSITY, EPSILON, SAMPLES_PER_ACTION
from causalfocus.benchmark.questions import QuestionSummary, question_table
from causalfocus.benchmark.rounds import RoundTimes, RunMemory
from causalfocus.benchmark.several import SeveralSummary
from causalfocus.benchmark.survival import WorldCell, survival_table
from causalfocus.benchmark.today_table import TodayCell, today_table
from causalfocus.benchmark.units import in_units
from causalfocus.benchmark.violations import Violated, violation_table
from causalfocus.version import __version__


@dataclass(kw_only=True)
class Figures:
    """All that one run of the benchmark measured."""

    ratios: list[Ratio] = field(default_factory=list)
    times: list[OracleTimes] = field(default_factory=list)
    memory: list[PeakMemory] = field(default_factory=list)
    rounds: list[RoundTimes] = field(default_factory=list)
    runs: list[RunMemory] = field(default_factory=list)
    games: list[GameTimes] = field(default_factory=list)
    certificates: list[CertificateSummary] = field(default_factory=list)
    splits: list[SplitSummary] = field(default_factory=list)
    several: list[SeveralSummary] = field(default_factory=list)
    questions: list[QuestionSummary] = field(default_factory=list)
    plants: list[PlantSummary] = field(default_factory=list)
    coins: list[CoinSummary] = field(default_factory=list)
    large: list[LargeRun] = field(default_factory=list)
    columns: list[ColumnRun] = field(default_factory=list)
    costs: list[CostSummary] = field(default_factory=list)
    blocks: list[BlockSummary] = field(default_factory=list)
    survival: list[WorldCell] = field(default_factory=list)
    coverage: list[Coverage] = field(default_factory=list)
    foretelling: list[Foretelling] = field(default_factory=list)
    today: list[TodayCell] = field(default_factory=list)
    violations: list[Violated] = field(default_factory=list)
    learners: list[LearnerTimes] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    recoveries: list[Recovery] = field(default_factory=list)
    schedules: list[ScheduleRow] = field(default_factory=list)
    campaigns: list[CampaignTimes] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return {
            "machine": machine(),
            "ratios": [asdict(row) for row in self.ratios],
            "times": [asdict(row) for row in self.times],
            "memory": [asdict(row) | {"table": row.table} for row in self.memory],
            "rounds": [asdict(row) for row in self.rounds],
            "runs": [asdict(row) for row in self.runs],
            "games": [asdict(row) for row in self.games],
            "certificates": [asdict(row) for row in self.certificates],
            "splits": [asdict(row) for row in self.splits],
            "several": [asdict(row) for row in self.several],
            "questions": [asdict(row) for row in self.questions],
            "plants": [asdict(row) for row in self.plants],
            "coins": [asdict(row) for row in self.coins],
            "large": [asdict(row) for row in self.large],
            "columns": [asdict(row) for row in self.columns],
            "costs": [asdict(row) for row in self.costs],
            "blocks": [asdict(row) for row in self.blocks],
            "survival": [asdict(row) for row in self.survival],
            "coverage": [asdict(row) for row in self.coverage],
            "foretelling": [asdict(row) for row in self.foretelling],
            "today": [asdict(row) for row in self.today],
            "violations": [asdict(row) for row in self.violations],
            "learners": [asdict(row) for row in self.learners],
            "curves": [asdict(row) for row in self.curves],
            "recoveries": [asdict(row) for row in self.recoveries],
            "schedules": [asdict(row) for row in self.schedules],
            "campaigns": [asdict(row) for row in self.campaigns],
        }

    def to_markdown(self) -> str:
        tables: list[tuple[Sequence[Any], Callable[[Any], str]]] = [
            (self.ratios, _ratio_table),
            (self.times, _time_table),
            (self.memory, _memory_table),
            (self.rounds, _round_table),
            (self.runs, _run_table),
            (self.games, _game_table),
            (self.certificates, _certificate_table),
            (self.certificates, _gaussian_table),
            (self.certificates, _prediction_table),
            (self.splits, _split_table),
            (self.several, _several_table),
            (self.questions, question_table),
            (self.plants, plant_table),
            (self.coins, coin_table),
            (self.large, large_table),
            (self.columns, column_table),
            (self.costs, _cost_table),
            (self.blocks, block_table),
            (self.survival, survival_table),
            (self.coverage, coverage_table),
            (self.foretelling, foretelling_table),
            (self.today, today_table),
            (self.violations, violation_table),
            (self.learners, learner_table),
            (self.recoveries, recovery_table),
            (self.schedules, schedule_table),
            (self.curves, curve_table),
            (self.campaigns, campaign_table),
        ]
        shown = [table(rows) for rows, table in tables if rows]
        return "\n\n".join([_conditions(), *shown]) + "\n"


def machine() -> dict[str, str]:
    """What the figures depend on."""
    versions = {name: importlib.metadata.version(name) for name in ("numpy", "numba")}
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "causalfocus": __version__,
        **versions,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or "unknown"


def _conditions() -> str:
    facts = ", ".join(f"{key} {value}" for key, value in machine().items())
    return f"""Machine: {facts}.

Problems: random systems with the paper's settings (density {DENSITY}, its model class, no
intercepts), {SAMPLES_PER_ACTION} samples under each of the 2p + 1 actions, seeds 0, 1, ...; the
alternative oracle at the estimate, equal weights, epsilon {EPSILON}. Times are medians over
problems of the median over repetitions of the public call; compilation is kept out."""


def _ratio_table(rows: list[Ratio]) -> str:
    head = """### Exact oracles beside the literal enumeration

`literal`: the paper's algorithms as written, every quadratic program solved wherever they call for
it. `each fit once`: the same, remembering every local fit. Both are interpreted Python around a
compiled solver. Ratios: over the engine, on the same moments; the values are checked to agree.

| p | oracle | problems | literal | each fit once | engine | ratio | ratio, each fit once |
|---|---|---|---|---|---|---|---|
"""
    return head + "\n".join(
        f"| {r.p} | {r.oracle} | {r.n_problems} | {in_units(r.literal)} | "
        f"{in_units(r.remembered)} | {in_units(r.engine)} | {r.ratio:,.0f} | "
        f"{r.ratio_remembered:,.0f} |"
        for r in rows
    )


def _time_table(rows: list[OracleTimes]) -> str:
    head = """### Time per call and where it goes

Parts of an MLE: sweeps (unconstrained fits of all families), searches (branch and bound, for the
share `searched` of the families), order (the program over sets of nodes). `MLE/sweeps`: a whole MLE
over the sweeps alone.

| p | families | MLE | alternative | sweeps | searches | order | searched | MLE/sweeps |
|---|---|---|---|---|---|---|---|---|
"""
    body = "\n".join(
        f"| {r.p} | {r.n_families:,} | {in_units(r.mle)} | {in_units(r.alternative)} | "
        f"{in_units(r.sweeps)} | {in_units(r.searches)} | {in_units(r.order)} | "
        f"{100 * r.share_searched:.1f} % | {r.mle / r.sweeps:.1f} |"
        for r in rows
    )
    growth = growth_per_node(rows, 8, 14)
    if growth is None:
        return head + body
    mle, alternative = growth
    tail = f"Growth per added node, p = 8 to 14: MLE {mle:.2f}, alternative {alternative:.2f}."
    return f"{head}{body}\n\n{tail}"


def _round_table(rows: list[RoundTimes]) -> str:
    head = """### A whole round of FOCUS

Tell, estimate, best response, certificate check, ask; means over a run. `MLE`: one joint MLE on the
same moments, taken in turn. Runs go to the certificate, or end after 20 rounds per action, before
any judgement is due. `judgement`: one full check of all other graphs, which is made every hundredth
round or less. `checks`: the part of a round that testing the assumptions takes.

| rule | p | rounds | to the stop | round | rounds / s | MLE | round / MLE | judgement | checks |
|---|---|---|---|---|---|---|---|---|---|
"""
    return head + "\n".join(
        f"| {r.rule} | {r.p} | {r.n_rounds:,} | {'yes' if r.stopped else 'no'} | "
        f"{in_units(r.round)} | {1 / r.round:,.0f} | {in_units(r.mle)} | "
        f"{r.round / r.mle:.1f} | {in_units(r.judgement)} | "
        f"{100 * r.watching / r.round:.0f} % |"
        for r in rows
    )


def _run_table(rows: list[RunMemory]) -> str:
    head = """### Memory of a long run

| p | rounds | growth per round | of it the log |
|---|---|---|---|
"""
    return head + "\n".join(
        f"| {r.p} | {r.n_rounds:,} | {r.growth:.0f} bytes | {r.log:.0f} bytes |" for r in rows
    )


def _certificate_table(rows: list[CertificateSummary]) -> str:
    head = f"""### Rounds to a certificate

FOCUS and uniform sampling under the class rule on random systems with the paper's settings
(density 0.3, epsilon 0.07, no intercepts). `ratio`: rounds times C_epsilon over log(1/delta) at
delta = 0.05. `wrong`: certified claims that are not right, over both designs and the deltas
{", ".join(f"{delta:g}" for delta in DELTAS)}. `slope`: of the mean rounds over log(1/delta).

| p | systems | stopped | wrong | median rounds | ratio | uniform / FOCUS | slope | mean 1/C |
|---|---|---|---|---|---|---|---|---|
"""
    return head + "\n".join(
        f"| {r.p} | {r.n_systems} | {r.n_stopped} | {r.n_wrong} | {r.median_rounds:,.0f} | "
        f"{r.median_ratio:.2f} | {r.median_uniform_over_focus:.2f} | {r.slope:,.0f} | "
        f"{r.mean_inverse_complexity:,.0f} |"
        for r in rows
    )


def _gaussian_table(rows: list[CertificateSummary]) -> str:
    head = """### The gaussian rule beside the class rule

FOCUS on the same systems and samples at delta = 0.05, min_effect 0.15; the gaussian rule knows
neither the class nor the noise range. `over evidence`: its median rounds over those of the evidence
rule; and the median of the ratio on the same system. `1/C`: the median of the ratio of what both
would need for small delta. `wrong`: claims that do not hold.

| p | systems | stopped | wrong | median rounds | over evidence | per system | 1/C |
|---|---|---|---|---|---|---|---|
"""
    return head + "\n".join(
        f"| {r.p} | {r.n_systems} | {r.gaussian.n_stopped} | {r.gaussian.n_wrong} | "
        f"{r.gaussian.median_rounds:,.0f} | {r.gaussian.over_class:.2f} | "
        f"{r.gaussian.median_over_class:.2f} | "
        f"{r.gaussian.median_inverse_complexity_ratio:.2f} |"
        for r in rows
    )


def _prediction_table(rows: list[CertificateSummary]) -> str:
    head = """### Rounds foretold

What `causalfocus plan` says of FOCUS on each of these systems, at delta = 0.05. The last column is
measured over predicted: tenth percentile, median, ninetieth.

| rule | p | systems | median predicted | median measured | off by | measured / predicted |
|---|---|---|---|---|---|---|
"""
    lines = []
    for r in rows:
        for rule, of in (("gaussian", r.gaussian), ("class", r)):
            lines.append(
                f"| {rule} | {r.p} | {r.n_systems} | {of.median_predicted:,.0f} | "
                f"{of.median_rounds:,.0f} | "
                f"{100 * (of.median_predicted / of.median_rounds - 1):+.0f} % | "
                f"{', '.join(f'{value:.2f}' for value in of.measured_over_predicted)} |"
            )
    return head + "\n".join(lines)


def _split_table(rows: list[SplitSummary]) -> str:
    head = """### What the rounds are spent on

FOCUS under the class rule at delta = 0.05, means over the systems. `information`: log(1/delta) over
C_epsilon. `mixture`: what the certificate takes beyond it on the expected data of the best fixed
design. `rest`: what learning the design and chance add; below zero where adapting to the data saves
more. `at the end`: rounds before the stop in which at most one rival lacked evidence, part of the
others.

| p | systems | rounds | information | mixture | rest | its standard error | at the end |
|---|---|---|---|---|---|---|---|
"""
    return head + "\n".join(
        f"| {r.p} | {r.n_systems} | {r.rounds:,.0f} | {r.information:,.0f} | {r.mixture:,.0f} | "
        f"{r.rest:+,.0f} | {r.rest_error:,.0f} | {r.at_the_end:,.0f} |"
        for r in rows
    )


def _several_table(rows: list[SeveralSummary]) -> str:
    head = """### Several variables at once

FOCUS at delta = 0.05, ends by a coin; one variable at a time, two, and any number in one round, at
the same cost. `C`: mean of C_epsilon of the class rule over that of one at a time on the
same system. Rounds are medians; in brackets the median of rounds one at a time over rounds, on the
same system. `wrong`: certified claims that are not right, of all.

| p | systems | C, two | C, any | class: one | two | any | gaussian: one | two | any | wrong |
|---|---|---|---|---|---|---|---|---|---|---|
"""

    def rounds(medians: Sequence[float], ratios: Sequence[float]) -> str:
        one, *more = (
            f"{m:,.0f}" if i == 0 else f"{m:,.0f} ({r:.2f})"
            for i, (m, r) in enumerate(zip(medians, ratios, strict=True))
        )
        return " | ".join([one, *more])

    return head + "\n".join(
        f"| {r.p} | {r.n_systems} | {' | '.join(f'{gain:.2f}' for gain in r.mean_gain[1:])} | "
        f"{rounds(r.median_class, r.median_class_ratio)} | "
        f"{rounds(r.median_gaussian, r.median_gaussian_ratio)} | {r.n_wrong} |"
        for r in rows
    )


def _cost_table(rows: list[CostSummary]) -> str:
    head = """### What knowing the costs saves

FOCUS at delta = 0.05; setting a node costs 1 to 10, drawn log-uniform per node, observing costs 1.
`aware` knows the costs, `blind` does not; both pay them.

| p | systems | mean cost, aware | mean cost, blind | mean of aware / blind | its standard error |
|---|---|---|---|---|---|
"""
    return head + "\n".join(
        f"| {r.p} | {r.n_systems} | {r.mean_aware:,.0f} | {r.mean_blind:,.0f} | "
        f"{r.mean_ratio:.3f} | {r.standard_error:.3f} |"
        for r in rows
    )


def _game_table(rows: list[GameTimes]) -> str:
    head = """### Information complexity

`cf.complexity` at the estimates of the problems above: seconds per call, cutting planes, and the
largest relative distance of upper and lower value.

| p | problems | seconds | planes | largest gap |
|---|---|---|---|---|
"""
    return head + "\n".join(
        f"| {r.p} | {r.n_problems} | {in_units(r.seconds)} | {r.n_planes:g} | {r.gap:.1e} |"
        for r in rows
    )


def _memory_table(rows: list[PeakMemory]) -> str:
    lines = [
        "### Peak memory of one joint MLE",
        "",
        "| p | p 2^(p-1) doubles | added to the peak | ratio |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {r.p} | {r.table / 2**20:.1f} MiB | {r.measured / 2**20:.1f} MiB | "
        f"{r.measured / r.table:.2f} |"
        for r in rows
    ]
    return "\n".join(lines)
