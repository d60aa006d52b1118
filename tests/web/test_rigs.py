"""What rigs do, through the page: several settings, misses, failures, missing values, mending."""

import re
from pathlib import Path

from playwright.sync_api import Browser, Page, Route, expect

import causalfocus as cf
from causalfocus.campaign import Campaign
from causalfocus.campaign.sheet import run_sheet
from causalfocus.report.sheet import sheet_html
from web.test_web import browser, page, serve

__all__ = ["browser", "page"]

NAMES = ("heat", "flow", "yield")
ACTIONS = cf.ActionSet({"heat": (20, 80), "flow": (1, 3), "yield": None}, at_once=2)


def new(path: Path) -> Campaign:
    units = {"heat": "°C"}
    space = cf.ModelClass(0.2)
    return Campaign.create(path, ACTIONS, space, epsilon=0.1, rule="gaussian", seed=2, units=units)


def ask_for_two(campaign: Campaign) -> cf.Action:
    """Answer until two variables are to be set, which stays pending."""
    while True:
        (asked,) = campaign.next()
        if len(asked.action.settings) == 2:
            return asked.action
        free = {name: 1.0 for name in NAMES if name not in asked.action.targets}
        campaign.record(free, id=asked.id)


def test_two_settings_that_miss_and_fail(page: Page, path: Path) -> None:
    with new(path) as campaign, serve(path) as address:
        action = ask_for_two(campaign)
        heat = dict(action.settings)["heat"]
        done = campaign.rounds
        page.goto(address)
        expect(page.locator(".action")).to_have_text(
            re.compile(r"Set flow to \d and heat to \d0 °C")
        )
        page.get_by_label("yield", exact=True).fill("NA")
        page.get_by_text("It achieved something else").click()
        page.get_by_label("heat achieved").fill("50")
        page.get_by_role("button", name="Record").click()
        expect(page.locator("[data-error='value:heat']")).to_contain_text("is a slip of the pen")
        assert campaign.rounds == done
        page.get_by_label("Values far from what was asked").check()
        page.get_by_label("the setting failed").first.check()  # of the flow
        page.get_by_role("button", name="Record").click()
        expect(page.locator("[data-error='value:flow']")).to_contain_text("what was measured?")
        page.get_by_label("flow achieved").fill("2.1")
        page.get_by_label("When it was done").fill("2026-05-04T13:30:00")
        page.get_by_role("button", name="Record").click()
        expect(page.locator("#said")).to_have_text(f"Round {done + 1} is recorded.")
        event = campaign.events(search="told")[-1]
        assert event.failed == ("flow",) and event.performed is not None
        told = campaign.learner.log[-1]
        assert told.sample[0] == 50.0 != heat and not told.is_complete
        expect(page.locator("#part-log")).to_contain_text("NA")
        expect(page.locator("#part-log")).to_contain_text("failed: flow")
        expect(page.locator("#part-state")).to_contain_text(
            "1 of these rounds counts for no evidence"
        )


def test_taken_back_withdrawn_and_another_action(page: Page, path: Path) -> None:
    with new(path) as campaign, serve(path) as address:
        campaign.record([20.0, 1.5, 2.5], action=cf.do("heat", 20.0))
        (asked,) = campaign.next()
        page.goto(address)
        page.get_by_text("It could not be done").click()
        page.get_by_role("button", name="Take back").click()
        expect(page.locator("#error-accident")).to_have_text("A reason is needed.")
        page.get_by_label("Asked by accident: how").fill("two clicks")
        page.get_by_role("button", name="Take back").click()
        expect(page.locator("#said")).to_have_text(f"Number {asked.id} is taken back.")
        page.get_by_text("Correct a round").click()
        page.get_by_label("Round", exact=True).fill("1")
        page.get_by_label("What was really done").fill("pump=3")
        page.get_by_label("What went wrong").fill("wrong line")
        page.get_by_role("button", name="Correct").click()
        expect(page.locator("[data-error=true_action]")).to_contain_text("is no action")
        page.get_by_label("What was really done").fill("heat=80")
        page.get_by_role("button", name="Correct").click()
        expect(page.locator("#said")).to_have_text("Round 1 is corrected.")
        assert campaign.learner.log[0].action == cf.do("heat", 80.0)
        page.get_by_text("Withdraw a round").click()
        page.get_by_role("button", name="Withdraw").click()
        expect(page.locator("[data-error=withdrawn_why]")).to_have_text("A reason is needed.")
        page.locator("#withdraw-round").fill("1")
        page.locator("#withdraw-why").fill("of another rig")
        page.get_by_role("button", name="Withdraw").click()
        expect(page.locator("#said")).to_have_text("Round 1 is withdrawn.")
        assert campaign.learner.log[0].withdrawn


def test_an_answer_is_shown_where_the_question_was_asked(page: Page, path: Path) -> None:
    """Also when the same part of the page changes while the answer is on its way."""
    with new(path) as campaign, serve(path) as address:
        campaign.next()
        page.goto(address)
        page.get_by_text("It could not be done").click()

        def change_and_go_on(route: Route) -> None:
            with page.expect_response("**/parts?*"):
                campaign.next()
            route.continue_()

        page.route("**/take-back", change_and_go_on)
        page.get_by_role("button", name="Take back").click()
        expect(page.locator("#error-accident")).to_have_text("A reason is needed.")


def test_a_sheet_to_print(browser: Browser, path: Path) -> None:
    """It keeps to its own policy, and names stay text."""
    actions = cf.ActionSet({"<b>heat</b>": (20, 80), "flow": (1, 3)})
    with Campaign.create(path, actions, cf.ModelClass(0.2), epsilon=0.1, seed=1) as campaign:
        lines = run_sheet(campaign, 12)
        file = path.with_name("sheet.html")
        file.write_text(sheet_html(campaign, lines), encoding="utf-8")
    found, complaints = browser.new_page(), list[str]()
    found.on("console", lambda message: complaints.append(message.text))
    found.goto(file.as_uri())
    assert found.locator("tbody tr").count() == 12 and found.locator("b").count() == 0
    first = found.locator("tbody tr").nth(1)
    expect(first.locator("td.set strong")).to_have_count(len(lines[1].settings))
    assert complaints == []
    found.close()
