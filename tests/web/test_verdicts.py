"""Verdicts on the page: in the first screen, early, on the way and at the end, for few variables
and for many, by keyboard, for a screen reader and on a telephone.
"""

from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

import causalfocus as cf
from campaign.test_verdicts_shown import new, play
from causalfocus.campaign import Campaign
from web.test_web import CONTRAST, NASTY, browser, page, serve

__all__ = ["browser", "page"]

MANY = 50
TELEPHONE, SCREEN = 390, 1280
PLACE = "e => [e.getBoundingClientRect().left, e.getBoundingClientRect().top]"


@pytest.fixture(scope="module")
def middle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campaign]:
    """Three variables, some of their pairs settled."""
    with new(tmp_path_factory.mktemp("middle") / "rig.campaign") as campaign:
        play(campaign, 190)
        campaign.next()
        yield campaign


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campaign]:
    """Fifty variables, one of them with a name that no page should trust, and a few rounds."""
    names = [*(f"temperature_of_zone_{i}" for i in range(MANY - 1)), NASTY]
    actions = cf.ActionSet(dict.fromkeys(names, (-1.0, 1.0)), at_once=None)
    path = tmp_path_factory.mktemp("many") / "wide.campaign"
    rng = np.random.default_rng(0)
    with Campaign.create(
        path, actions, cf.ModelClass(0.3), epsilon=0.15, rule="randomized", seed=1
    ) as campaign:
        for asked in campaign.next(12):
            free = [name for name in names if name not in asked.action.targets]
            campaign.record(dict(zip(free, rng.normal(size=len(free)), strict=True)), id=asked.id)
        campaign.next(2)
        yield campaign


def test_verdicts_are_in_the_first_screen(browser: Browser, middle: Campaign) -> None:
    with serve(middle.path) as address:
        page = browser.new_page(viewport={"width": SCREEN, "height": 800})
        page.goto(address)
        effects = middle.learner.effects()
        assert 0 < effects.n_settled < 6
        said = f"{effects.n_settled} of 6 pairs settled"
        expect(page.locator(".headline")).to_contain_text(said)
        for place in (".headline", "table.verdicts", "#present-box table"):
            box = page.locator(place).bounding_box()
            assert box is not None and box["y"] + box["height"] < 800, place
        for one in effects:
            row = page.locator(
                "table.verdicts tbody tr",
                has=page.get_by_role("rowheader", name=one.effect, exact=True),
            )
            cell = row.locator("td").nth(middle.names.index(one.cause))
            sign = "+" if one.low > 0 else "−"
            expect(cell).to_contain_text(sign if one.is_present else one.verdict)
        shown = page.locator("#present-box tbody th[scope=row]")
        assert set(shown.all_inner_texts()) == {
            f"{one.cause} → {one.effect}" for one in effects if one.is_present
        }
        expect(page.locator("#part-verdicts")).to_contain_text("waits for")
        page.close()


def test_a_pair_that_is_settled_shows_at_once_and_boxes_stay_scrolled(
    page: Page, tmp_path: Path
) -> None:
    with new(tmp_path / "rig.campaign") as campaign, serve(campaign.path) as address:
        play(campaign, 150)
        page.set_viewport_size({"width": TELEPHONE, "height": 800})
        page.goto(address)
        expect(page.locator(".headline")).to_contain_text("0 of 6 pairs settled")
        expect(page.locator("#part-verdicts")).to_contain_text("6 pairs have no interval yet")
        page.evaluate("document.getElementById('verdicts-box').style.width = '10rem'")
        play(campaign, 400)
        expect(page.locator(".headline")).to_contain_text("6 of 6 pairs settled")
        expect(page.locator("#present-box tbody tr")).to_have_count(2)
        expect(page.locator("#part-verdicts")).not_to_contain_text("waits for")
        assert page.locator("#part-graph .uncertain").count() == 0


def test_verdicts_by_keyboard_and_for_a_screen_reader(page: Page, middle: Campaign) -> None:
    with serve(middle.path) as address:
        page.goto(address)
        tables = page.locator("#part-verdicts table")
        for i in range(tables.count()):
            assert tables.nth(i).locator("caption").inner_text().strip()
            heads = tables.nth(i).locator("th")
            scopes = {heads.nth(k).get_attribute("scope") for k in range(heads.count())}
            assert scopes == {"col", "row"}
        bar = page.get_by_role("progressbar", name="pairs settled")
        assert bar.get_attribute("max") == "6"
        box = page.get_by_role("region", name="Verdicts on all pairs")
        box.focus()
        expect(box).to_be_focused()
        page.get_by_role("link", name="pairs settled").focus()
        page.keyboard.press("Enter")
        assert page.url.endswith("#verdicts")
        expect(page.get_by_role("heading", name="What is settled")).to_be_in_viewport()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_verdicts_are_read_in_light_and_dark(
    browser: Browser, middle: Campaign, scheme: str
) -> None:
    with serve(middle.path) as address:
        page = browser.new_page(color_scheme="dark" if scheme == "dark" else "light")
        page.goto(address)
        there = (
            ".verdicts td.positive, .verdicts td.negative",
            ".verdicts td.open, .verdicts td.blank",
        )
        for selector in (*there, ".pairs .positive, .pairs .negative", ".pairs td.soft"):
            ratio = page.evaluate(CONTRAST, selector)
            assert ratio >= 4.5, f"{selector} has contrast {ratio:.2f} in {scheme}"
        page.close()


@pytest.mark.parametrize("width", [TELEPHONE, SCREEN])
def test_fifty_variables_fit(browser: Browser, many: Campaign, width: int) -> None:
    """Nothing sticks out, whatever is wide can be scrolled by keyboard, and names stay text."""
    with serve(many.path) as address:
        page, complaints = browser.new_page(viewport={"width": width, "height": 844}), list[str]()
        page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
        page.goto(address)
        expect(page.locator(".headline")).to_contain_text("of 2,450 pairs settled")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("table.verdicts tbody td").count() == MANY**2
        wide = page.evaluate(
            "[...document.querySelectorAll('.scroll')]"
            ".filter(e => e.scrollWidth > e.clientWidth && e.querySelector('.verdicts, .pairs'))"
            ".map(e => [e.tabIndex, e.getAttribute('aria-label') !== null])"
        )
        assert wide and all(one == [0, True] for one in wide)
        box = page.locator("#verdicts-box")
        corner = page.locator(".verdicts .corner")
        before = corner.evaluate(PLACE)
        box.evaluate("e => { e.scrollLeft = 300; e.scrollTop = 200; }")
        after = corner.evaluate(PLACE)
        assert after == pytest.approx(before, abs=2.0), "the names stay in sight"
        assert page.locator("b").count() == 0 and complaints == []
        expect(page.locator(".action")).to_contain_text("variables")
        page.close()
        assert len(httpx.get(address).content) < 1_000_000
