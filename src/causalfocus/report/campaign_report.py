"""A campaign's report: one HTML file that needs nothing else, or a PDF made of it by a browser."""

import base64
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from causalfocus.campaign import Campaign, CampaignError
from causalfocus.campaign.events import now as time_now
from causalfocus.campaign.status import Status, status
from causalfocus.errors import MissingExtraError
from causalfocus.guarantees.terms import accuracy_in_words, size_in_words
from causalfocus.report.checks import evidence_of, residuals
from causalfocus.report.drawings import (
    allocation_drawing,
    evidence_drawing,
    fitted_drawing,
    graph_drawing,
    quantile_drawing,
)
from causalfocus.report.forest import forest_drawing
from causalfocus.report.matrix import legend_drawing, matrix_drawing
from causalfocus.report.pairs import Pairs, estimate_in_words, interval_in_words
from causalfocus.report.spending import by_words, in_brief
from causalfocus.report.svg import Drawn
from causalfocus.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment

HOME: Final = Path(__file__).parent
MOST_NOTES: Final = 50
BROWSERS: Final = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)


def report_html(campaign: Campaign) -> str:
    """The report as the text of an HTML file."""
    with campaign.hold():
        now = status(campaign)
        specification = campaign.specification
        pairs = pairs_in(now)
        style = "".join((HOME / name).read_text() for name in ("style.css", "report.css"))
        digest = hashlib.sha256(style.encode()).digest()
        last = campaign.events(limit=1, newest=True)
        notes = [event for event in campaign.events(search="noted") if event.kind == "noted"]
        return (
            environment(HOME / "templates")
            .get_template("report.html")
            .render(
                title=specification.title or campaign.path.name,
                version=__version__,
                made=time_now(),
                now=now,
                style=Drawn(style),
                style_hash="sha256-" + base64.b64encode(digest).decode(),
                checks=_checks(campaign),
                variables=_variables(campaign),
                forest=_forest(pairs),
                assumptions=campaign.learner.guarantee.assumptions_in_words(),
                smallest=size_in_words(specification.space),
                accuracy=accuracy_in_words(specification.epsilon),
                delta=specification.delta,
                rule=specification.rule,
                assumes_noise=campaign.learner.guarantee.assumes_noise,
                notes=notes[-MOST_NOTES:],
                digest=last[0].digest.hex() if last else "the specification",
                **drawings(campaign, now),
            )
        )


def _forest(pairs: Pairs) -> Drawn | None:
    """The intervals of what is there and of what is open; of few pairs, of all."""
    listed = pairs.lines if pairs.is_few else (*pairs.present, *pairs.with_interval[::-1])
    shown = [one for one in listed if one.is_bounded and not one.is_given]
    return forest_drawing(shown) if shown else None


def pairs_in(now: Status) -> Pairs:
    """The pairs of a campaign, sorted for people."""
    return Pairs(
        effects=now.effects,
        to_go=None if now.remaining is None else now.remaining.rounds,
    )


def drawings(campaign: Campaign, now: Status) -> dict[str, Any]:
    """Verdicts, graph, evidence and allocation."""
    stop, learner = campaign.stop, campaign.learner
    at_once = learner.actions.at_once
    is_certain = now.state == "certified" and learner.guarantee.about.is_everything
    return {
        "pairs": pairs_in(now),
        "matrix": matrix_drawing(now.effects, campaign.names) if now.settles_pairs else Drawn(),
        "legend": legend_drawing(now.effects, campaign.names) if now.settles_pairs else Drawn(),
        "graph": graph_drawing(campaign.model, now.edges, now.threshold, is_certain=is_certain),
        "evidence": evidence_drawing(
            campaign.curve(), now.threshold, None if stop is None else campaign.result().rounds
        ),
        "allocation": allocation_drawing(
            by_words(learner.counts, at_once=at_once), by_words(learner.allocation, at_once=at_once)
        ),
    }


def environment(folder: Path) -> "Environment":
    """Templates in which everything is escaped but what was drawn here."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise MissingExtraError(
            "Reports need jinja2: install it with pip install 'causalfocus[campaign]'."
        ) from None
    loader = FileSystemLoader([folder, HOME / "templates"])  # the tables of pairs serve all
    found = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    found.filters |= {
        "brief": in_brief,
        "estimate": estimate_in_words,
        "interval": interval_in_words,
    }
    return found


def _checks(campaign: Campaign) -> list[dict[str, Any]]:
    if campaign.rounds < 2:
        return []
    return [
        {
            "name": of.node,
            "quantiles": quantile_drawing(of.node, of.residuals),
            "fitted": fitted_drawing(of.node, of.fitted, of.residuals),
        }
        for of in residuals(evidence_of(campaign.learner), campaign.model)
        if len(of.residuals) > 1
    ]


def _variables(campaign: Campaign) -> list[dict[str, str]]:
    specification = campaign.specification
    found = []
    for name, ends, unit in zip(
        specification.names, specification.actions.ranges, specification.units, strict=True
    ):
        span = "nothing" if ends is None else " and ".join(f"{e:g}" for e in dict.fromkeys(ends))
        found.append({"name": name, "unit": unit, "range": span})
    return found


def browser() -> str | None:
    """A browser on this machine, if there is one; CAUSALFOCUS_BROWSER names another."""
    named = os.environ.get("CAUSALFOCUS_BROWSER")
    return named or next((found for name in BROWSERS if (found := shutil.which(name))), None)


def write_pdf(html: str, path: Path) -> None:
    """Print a report to a PDF file."""
    program = browser()
    if program is None:
        raise CampaignError(
            f"A PDF needs a browser, and none of {', '.join(BROWSERS)} is here. Install one, name "
            f"it in CAUSALFOCUS_BROWSER, or print the HTML report from your own."
        )
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        page.write_text(html, encoding="utf-8")
        options = ["--headless", "--disable-gpu", "--no-first-run", "--no-pdf-header-footer"]
        options += ["--disable-background-networking", f"--user-data-dir={folder}/profile"]
        if hasattr(os, "getuid") and os.getuid() == 0:
            options.append("--no-sandbox")  # which root cannot have
        command = [program, *options, f"--print-to-pdf={path.absolute()}", page.as_uri()]
        try:
            done = subprocess.run(  # noqa: S603
                command, capture_output=True, text=True, check=False, timeout=120
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CampaignError(f"{program} could not print the report: {error}.") from None
    if done.returncode != 0 or not path.exists():
        raise CampaignError(f"{program} could not print the report: {done.stderr.strip()[-300:]}")
