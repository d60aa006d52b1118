"""What `causalfocus plan` prints."""

import math
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from causalfocus.planning.complexity import Complexity
from causalfocus.planning.plan import Plan, epsilon_in_words, number_in_words
from causalfocus.report.spending import by_words

MOST_PAIRS: Final = 20
"""Pairs that are shown one by one."""

BOUND_UP_TO = 0.4
"""The lower bound is stated for delta below 1/2; larger ones are shown at this."""


def show_plan(console: Console, made: Plan, out: Path | None) -> None:
    actions, n = made.actions, made.n_systems
    has_costs = bool(actions.prices or actions.change_costs)
    table = Table(title=f"Rounds to a certificate ({n} system{'s' if n > 1 else ''})")
    for heading in ("epsilon", "delta", "rounds", "four runs of five", *["cost"] * has_costs):
        table.add_column(heading, justify="right")
    for row in made.outlooks:
        table.add_row(
            epsilon_in_words(row.epsilon),
            f"{row.delta:g}",
            number_in_words(row.rounds),
            ""
            if math.isinf(row.low)
            else f"{number_in_words(row.low)} to {number_in_words(row.high)}",
            *[number_in_words(row.cost)] * has_costs,
        )
    console.print(table)
    _show_pairs(console, made)
    first = epsilon_in_words(made.outlooks[0].epsilon)
    spent = Table(title=f"How the rounds would be spent (epsilon {first})")
    costs = {str(action): f"{actions.cost_of(action):g}" for action in made.share}
    has_single_costs = bool(actions.prices) and actions.at_once < 2
    for heading in ("action", "share of rounds", *["cost of one"] * has_single_costs):
        spent.add_column(heading, justify="left" if heading == "action" else "right")
    for words, part in by_words(made.share, at_once=actions.at_once).items():
        spent.add_row(words, f"{100 * part:.1f} %", *[costs.get(words, "")] * has_single_costs)
    console.print(spent)
    if n == 1 and made.complexities[0].is_identifiable:
        _show_game(console, made.complexities[0], made.outlooks[0].delta)
    _show_hopeless(console, made)
    for text in made.assumed:
        console.print(text)
    if out is not None:
        console.print(f"Picture: {out}")


def _show_pairs(console: Console, made: Plan) -> None:
    """When pairs are settled, the last ones first; of many the last alone."""
    if not made.pairs:
        return
    first = made.outlooks[0]
    table = Table(
        title=f"When pairs are settled (epsilon {epsilon_in_words(first.epsilon)}, "
        f"delta {first.delta:g})"
    )
    for heading in ("cause", "effect", "matters from", "rounds"):
        table.add_column(heading, justify="left" if heading in ("cause", "effect") else "right")
    ordered = sorted(made.pairs, key=lambda one: -one.rounds)
    for one in ordered[:MOST_PAIRS]:
        table.add_row(
            escape(one.cause), escape(one.effect), f"{one.matters:.3g}", number_in_words(one.rounds)
        )
    console.print(table)
    if len(ordered) > MOST_PAIRS:
        console.print(f"{len(ordered) - MOST_PAIRS} more pairs are settled before these.")


def _show_hopeless(console: Console, made: Plan) -> None:
    hopeless = [game for game in made.complexities if not game.is_identifiable]
    if hopeless:
        changes = hopeless[0].rivals[0].changes
        unset = ", ".join(made.actions.unsettable) or "nothing"
        console.print(
            f"{len(hopeless)} of {made.n_systems} systems can never be certified: under every "
            f"action some other system looks the same, for example {changes}. Not settable: "
            f"{unset}. Make one of the nodes at an ambiguous edge settable.",
            style="bold red",
        )


def _show_game(console: Console, game: Complexity, asked_delta: float) -> None:
    delta = min(asked_delta, BOUND_UP_TO)
    console.print(
        f"C_epsilon is between {game.value:.4g} and {game.upper:.4g} nats per unit of cost (1 per "
        f"round if none is given): for small delta the rounds come to "
        f"{number_in_words(game.first_order(delta))}."
    )
    if not game.is_exhaustive:
        console.print(
            "There are too many sets of variables to try them all: the upper bound holds over "
            "those that a search found, and no lower bound on the rounds is proven."
        )
    if game.has_lower_bound:
        console.print(
            f"No valid rule needs less than {number_in_words(game.lower_bound(delta))} on average "
            f"at delta = {delta:g}."
        )
    rivals = Table(title="What is hardest to rule out", min_width=32)
    rivals.add_column("another system")
    rivals.add_column("share", justify="right")
    for rival in game.rivals[:8]:
        rivals.add_row(rival.changes, f"{100 * rival.share:.0f} %")
    console.print(rivals)
