"""The page, in a real browser and over plain HTTP, with a real server and a real file."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import httpx
import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

import causalfocus as cf
from campaign.hands import ACTIONS, SPACE, SYSTEM
from causalfocus.campaign import Campaign, Event
from causalfocus.report.campaign_report import browser as installed_browser
from causalfocus.web.forms import FieldError, specification_in

Run = Callable[..., subprocess.CompletedProcess[str]]

expect.set_options(timeout=60_000)  # a busy machine is no failure

NASTY = "<script>document.title='hacked'</script><b>bold</b>"


@contextmanager
def serve(path: Path, *options: str) -> Iterator[str]:
    """The page of a campaign by the real command, and its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "causalfocus", "serve", str(path), "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None and process.stderr is not None
    try:
        line = process.stdout.readline()
        found = re.search(r"at (http://\S+?)/?$", line)
        assert found, line + process.stderr.read()
        yield found[1].replace("0.0.0.0", "127.0.0.1")  # noqa: S104
    finally:
        os.kill(process.pid, signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
        assert "Traceback" not in errors, errors


@pytest.fixture
def campaign(path: Path) -> Iterator[Campaign]:
    """With a few rounds, and names and notes that no page should trust."""
    actions = cf.ActionSet(
        dict(zip(("heat", "flow", NASTY), [(-2.0, 2.0)] * 3, strict=True)), costs={"heat": 3}
    )
    with Campaign.create(path, actions, SPACE, epsilon=0.1, title=f"Rig {NASTY}", seed=0) as found:
        rng = np.random.default_rng(0)
        for _ in range(8):
            (asked,) = found.next(who=NASTY)
            at = ACTIONS[actions.index(asked.action)]
            found.record(SYSTEM.sample(at, 1, rng)[0], id=asked.id, note=NASTY)
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = installed_browser()
    if program is None:
        pytest.skip("there is no Chromium on this machine; CAUSALFOCUS_BROWSER can name one")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=program,
            args=["--no-sandbox", "--disable-background-networking", "--disable-component-update"],
        )
        yield found
        found.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that fails the test on any complaint of the browser, and on any request elsewhere."""
    found = browser.new_page()
    complaints: list[str] = []
    found.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    found.on("pageerror", lambda error: complaints.append(str(error)))
    found.on(
        "request",
        lambda r: None if r.url.startswith("http://127.0.0.1") else complaints.append(r.url),
    )
    yield found
    found.close()
    provoked = ("status of 422", "ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING")
    assert [text for text in complaints if not any(part in text for part in provoked)] == []


def test_a_campaign_in_the_browser(page: Page, path: Path) -> None:
    """Made, asked, recorded through the form; errors beside the field; others are followed."""
    with serve(path) as address:
        page.goto(address)
        expect(page.get_by_role("heading", name="A new campaign")).to_be_visible()
        page.get_by_label("What is it about?").fill("Reactor 3")
        for i, name in enumerate(("X1", "X2", "X3")):
            page.locator(f"#name-{i}").fill(name)
            page.locator(f"#low-{i}").fill("-2")
            page.locator(f"#high-{i}").fill("2")
        page.locator("#unit-0").fill("°C")
        page.locator("#high-1").fill("two")
        page.get_by_label("Smallest effect").fill("0.2")
        page.get_by_label("Accuracy").fill("0.1")
        page.get_by_label("What it rests on").select_option("gaussian")
        page.get_by_role("button", name="Begin").click()
        expect(page.locator("#error-high-1")).to_have_text("'two' for high is not a number.")
        assert not path.exists()
        page.locator("#high-1").fill("2")
        page.get_by_role("button", name="Begin").click()
        expect(page.get_by_role("heading", name="Reactor 3")).to_be_visible()
        expect(page.get_by_text("Nothing is pending.")).to_be_visible()

        page.get_by_role("button", name="What next?").click()
        expect(page.locator(".action")).to_have_text("Observe: set nothing")
        page.locator("#value-1").fill("abc")
        page.locator("#value-2").fill("inf")
        page.get_by_role("button", name="Record").click()
        expect(page.locator("#error-1")).to_have_text("'abc' for X1 is not a number.")
        expect(page.locator("#error-2")).to_contain_text("not a finite number")
        expect(page.locator("#error-3")).to_have_text("A value is needed.")
        expect(page.locator("#value-1")).to_be_focused()
        expect(page.locator("#value-1")).to_have_attribute("aria-invalid", "true")
        for i, value in enumerate(("0.5", "-0.25", "1e-1"), 1):
            page.locator(f"#value-{i}").fill(value)
        page.get_by_label("Your name").fill("Ada")
        page.keyboard.press("Enter")
        expect(page.locator("#said")).to_have_text("Round 1 is recorded.")
        expect(page.locator("#part-state")).to_contain_text("1 round")
        expect(page.locator("#part-log")).to_contain_text("Ada")

        rng = np.random.default_rng(0)
        with Campaign.open(path) as other:  # the server is another process
            (asked,) = other.next()
            page.get_by_text(re.compile(r"Set X1 to -?2 °C")).wait_for()
            page.locator("#value-1").fill("0.123")  # of X2: someone begins to type
            evidence = page.locator("#evidence-now").inner_text()
            for _ in range(60):
                (more,) = other.next()
                other.record(SYSTEM.sample(more.action, 1, rng)[0], id=more.id)
            expect(page.locator("#part-state")).to_contain_text("61 rounds")
            expect(page.locator("#evidence-now")).not_to_have_text(evidence)
            expect(page.locator("#value-1")).to_have_value("0.123")
            page.get_by_text("It could not be done").click()
            page.get_by_role("button", name="Reject").click()
            expect(page.locator("#error-reason")).to_have_text("A reason is needed.")
            page.get_by_label("Why").fill("pump is broken")
            page.get_by_role("button", name="Reject").click()
            expect(page.locator("#said")).to_have_text(f"Number {asked.id} is rejected.")
            assert other.pending == () and other.rounds == 61

    with serve(path) as address:  # restarted, elsewhere
        page.goto(address)
        page.get_by_text("Correct a round").click()
        page.get_by_label("True value").fill("0.75")
        page.get_by_role("button", name="Correct").click()
        expect(page.locator("[data-error=round]")).to_have_text("A whole number is needed.")
        page.get_by_label("Round", exact=True).fill("1")
        page.get_by_label("What went wrong").fill("typed 0.5")
        page.get_by_role("button", name="Correct").click()
        expect(page.locator("#said")).to_have_text("Round 1 is corrected.")
        expect(page.locator("#part-log")).to_contain_text("corrected 1")
        expect(page.locator("#part-state")).to_contain_text("61 rounds")
        page.get_by_label("Search the log").fill("pump")
        page.keyboard.press("Enter")
        expect(page.locator("#part-log tbody tr")).to_have_count(1)
        expect(page.locator("#part-log")).to_contain_text("rejected")


def test_the_page_comes_back_with_its_server(page: Page, campaign: Campaign, path: Path) -> None:
    """What was typed while it was away is still there, and is recorded once."""
    campaign.next()
    with serve(path) as address:
        page.goto(address)
        for i in (1, 2, 3):
            if page.locator(f"#value-{i}").count():
                page.locator(f"#value-{i}").fill("0.5")
        port = address.rpartition(":")[2]
    page.get_by_role("button", name="Record").click()
    expect(page.locator("[data-record] [data-error='']")).to_contain_text("did not answer")
    expect(page.locator("#value-1")).to_have_value("0.5")
    assert campaign.rounds == 8
    with serve(path, "--port", port):
        page.get_by_role("button", name="Record").click()
        expect(page.locator("#said")).to_have_text("Round 9 is recorded.")
    assert campaign.rounds == 9


def test_names_and_notes_are_shown_as_text(
    page: Page, browser: Browser, campaign: Campaign, path: Path
) -> None:
    campaign.note(NASTY, who=NASTY)
    with serve(path) as address:
        page.goto(address)
        expect(page.locator("h1")).to_have_text(f"Rig {NASTY}")
        expect(page.locator("#part-log")).to_contain_text(NASTY)
        assert "hacked" not in page.title() or page.title().startswith("Rig <script>")
        assert page.locator("b").count() == 0
        assert page.locator("script").count() == 1
        report = path.with_name("report.html")
        report.write_bytes(httpx.get(f"{address}/report.html").content)
    other, complaints = browser.new_page(), list[str]()
    other.on("console", lambda message: complaints.append(message.text))
    other.goto(report.as_uri())
    expect(other.locator("h1")).to_have_text(f"Rig {NASTY}")
    assert other.locator("b").count() == 0 and other.locator("script").count() == 0
    assert complaints == [], "the report keeps to its own policy"
    other.close()


def test_the_page_works_by_keyboard_and_for_a_screen_reader(
    page: Page, campaign: Campaign, path: Path
) -> None:
    campaign.next()
    with serve(path) as address:
        page.goto(address)
        page.keyboard.press("Tab")
        expect(page.get_by_text("To the content")).to_be_focused()
        fields = page.locator("input:not([type=hidden])")
        for i in range(fields.count()):
            name = fields.nth(i).get_attribute("id")
            assert page.locator(f"label[for='{name}']").count() == 1, name
        assert page.locator("svg[role=img][aria-label]").count() == 3
        assert page.locator("html").get_attribute("lang") == "en"
        assert page.locator("#said").get_attribute("aria-live") == "polite"
        headings = page.locator("h1, h2")
        assert [headings.nth(i).evaluate("e => e.tagName") for i in range(2)] == ["H1", "H2"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_fits_the_screen(
    browser: Browser, campaign: Campaign, path: Path, scheme: Literal["light", "dark"], width: int
) -> None:
    """Nothing sticks out sideways, and text keeps its contrast in light and dark."""
    campaign.next(2)
    with serve(path) as address:
        page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        page.goto(address)
        page.get_by_text("What causes what").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for selector in ("h1", ".soft", "button.primary", ".drawing .name", "a", ".error"):
            ratio = page.evaluate(CONTRAST, selector)
            assert ratio >= 4.5, f"{selector} has contrast {ratio:.2f} in {scheme}"
        page.close()


CONTRAST = """selector => {
  const element = document.querySelector(selector);
  const style = getComputedStyle(element);
  const paint = element instanceof SVGElement ? style.fill : style.color;
  let behind = element;
  let ground = "rgba(0, 0, 0, 0)";
  while (behind && ground === "rgba(0, 0, 0, 0)") {
    ground = getComputedStyle(behind).backgroundColor;
    behind = behind.parentElement;
  }
  const light = text => {
    const parts = text.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const [high, low] = [light(paint), light(ground)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}"""


def test_the_log_of_a_long_campaign_is_paged(path: Path) -> None:
    """A hundred thousand events: the first page and the last come by number, and a search too."""
    with Campaign.create(path, ACTIONS, SPACE, epsilon=0.1) as campaign:
        with campaign._ledger.transaction() as entry:
            for i in range(100_000):
                entry.add(Event(kind="noted", at="2026-01-01T00:00:00.000Z", note=f"number {i}"))
        with serve(path) as address:
            first = httpx.get(f"{address}/parts").json()["parts"]["log"]
            assert "100,000 events" in first and "number 99999" in first
            assert first.count("<tr>") == 31
            last = httpx.get(f"{address}/parts", params={"page": 3334}).json()["parts"]["log"]
            assert "number 0<" in last and "page 3,334 of 3,334" in last
            found = httpx.get(f"{address}/parts", params={"search": "number 4242"}).json()
            assert "11 events with" in found["parts"]["log"]


def record(address: str, **headers: str) -> httpx.Response:
    return httpx.post(f"{address}/note", data={"text": "hello"}, headers=headers)


def test_other_sites_cannot_write(campaign: Campaign, path: Path) -> None:
    """From a browser that has them open: neither with a form, nor under a borrowed name."""
    n = campaign.n_events()
    with serve(path) as address:
        assert record(address, Origin="http://evil.example").status_code == 403
        assert record(address, **{"Sec-Fetch-Site": "cross-site"}).status_code == 403
        assert record(address, Host="evil.example").status_code == 403
        assert httpx.get(address, headers={"Host": "evil.example"}).status_code == 403
        assert campaign.n_events() == n
        answer = record(address, Origin=address, **{"Sec-Fetch-Site": "same-origin"})
        assert answer.status_code == 303 and campaign.n_events() == n + 1
        page = httpx.get(address)
        policy = page.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert page.headers["X-Content-Type-Options"] == "nosniff"
        outward = re.findall(r"(?:src|href|action)=\"(https?:|//)", page.text)
        assert outward == []


def test_nonsense_is_refused_and_not_a_failure(campaign: Campaign, path: Path) -> None:
    (asked,) = campaign.next()
    long = "9" * 5000
    with serve(path) as address:
        assert httpx.get(f"{address}/parts", params={"id": long, "page": long}).status_code == 200
        for fields in ({"id": long}, {"id": "-1"}, {"id": "²"}, {"id": "0"}):
            assert httpx.post(f"{address}/record", data=fields).status_code == 422
        fields = {"round": long, "variable": "heat", "true_value": "1", "why": "x"}
        assert httpx.post(f"{address}/correct", data=fields).status_code == 422
        for headers in ({"Host": "[127.0.0.1"}, {"Origin": "http://["}):
            assert record(address, **headers).status_code == 403
        assert httpx.get(address, params={"token": "€"}).status_code == 303
        huge = {f"value:{name}": "1e99" for name in campaign.names} | {"id": str(asked.id)}
        target = asked.action.target
        answer = httpx.post(f"{address}/record", data=huge | {f"value:{target}": ""})
        assert answer.status_code in (303, 422)


def test_values_typed_for_one_action_are_not_put_down_for_another(
    campaign: Campaign, path: Path
) -> None:
    one, two = campaign.next(2)
    values = {name: "0.125" for name in campaign.names if name != one.action.target}
    campaign.record(dict.fromkeys(values, 0.5), id=one.id)
    with serve(path) as address:
        fields = {"id": str(one.id)} | {f"value:{name}": text for name, text in values.items()}
        answer = httpx.post(f"{address}/record", data=fields)
    assert answer.status_code == 422 and f"Number {one.id} was recorded already" in answer.text
    assert f"Number {two.id}," in answer.text and "0.125" not in answer.text


def test_what_someone_was_typing_is_not_lost(page: Page, campaign: Campaign, path: Path) -> None:
    (asked,) = campaign.next()
    with serve(path) as address:
        page.goto(address)
        page.locator("#value-1").fill("0.321")
        sample = {n: 0.5 for n in campaign.names if n != asked.action.target}
        campaign.record(sample, id=asked.id)
        expect(page.locator("#kept")).to_contain_text("You had typed:")
        expect(page.locator("#kept")).to_contain_text("0.321")


def test_the_keyboard_stays_where_it_is(page: Page, campaign: Campaign, path: Path) -> None:
    for i in range(40):
        campaign.note(f"number {i}")
    with serve(path) as address:
        page.goto(address)
        page.get_by_role("link", name="Earlier").focus()
        campaign.note("something new")
        expect(page.locator("#part-log")).to_contain_text("something new")
        expect(page.get_by_role("link", name="Earlier")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("#part-log caption")).to_contain_text("page 2 of 2")
        expect(page.locator("#part-log a").first).to_be_focused()


def test_who_looks_does_not_wait_for_a_writer(campaign: Campaign, path: Path) -> None:
    with serve(path) as address, ThreadPoolExecutor(1) as pool:
        httpx.get(address)
        with campaign._ledger.file.write_transaction():  # somebody takes long
            waiting = pool.submit(httpx.post, f"{address}/note", data={"text": "x"}, timeout=60)
            seen = httpx.get(f"{address}/parts", timeout=30).json()["seq"]
            assert seen == campaign.last_event and not waiting.done()
        assert waiting.result().status_code == 303


def test_other_machines_need_the_token_to_write(campaign: Campaign, path: Path) -> None:
    n = campaign.n_events()
    with serve(path, "--host", "0.0.0.0", "--token", "secret") as address:  # noqa: S104
        assert httpx.get(address).status_code == 200
        assert "open the address with the token" in httpx.get(address).text
        assert record(address).status_code == 403
        assert record(address, **{"X-Token": "wrong"}).status_code == 403
        assert httpx.get(address, headers={"Host": "evil.example"}).status_code == 403
        wrong = httpx.get(address, params={"token": "wrong"})
        assert wrong.status_code == 303 and "set-cookie" not in wrong.headers
        assert campaign.n_events() == n
        with httpx.Client(base_url=address, follow_redirects=True) as client:
            page = client.get("/", params={"token": "secret"})
            assert "secret" not in str(page.url) and "Write something down" in page.text
            assert client.post("/note", data={"text": "hi"}).status_code == 200
    assert campaign.n_events() == n + 1


def test_reading_only(campaign: Campaign, path: Path) -> None:
    campaign.next()
    n = campaign.n_events()
    with serve(path, "--read-only") as address:
        page = httpx.get(address)
        assert "This page is for reading only." in page.text and "<form action" not in page.text
        for verb in ("next", "record", "reject", "note", "go-on", "create"):
            assert httpx.post(f"{address}/{verb}").status_code == 403
    assert campaign.n_events() == n


def test_without_a_script_forms_work_too(campaign: Campaign, path: Path) -> None:
    (asked,) = campaign.next()
    with serve(path) as address:
        bad = httpx.post(f"{address}/record", data={"id": str(asked.id), "value:heat": "warm"})
        assert bad.status_code == 422 and "&#39;warm&#39; for heat is not a number." in bad.text
        assert 'value="warm"' in bad.text
        gone = httpx.post(f"{address}/record", data={"id": "1"})
        assert gone.status_code == 422 and "Number 1 was recorded already" in gone.text
        assert httpx.post(f"{address}/record", data={"id": "x"}).status_code == 422
        for name in ("nothing", "record/more"):
            assert httpx.post(f"{address}/{name}").status_code in (404, 405)
        assert httpx.get(f"{address}/static/../app.py").status_code in (404, 405)
        good = httpx.post(
            f"{address}/record",
            data={"id": str(asked.id)}
            | {f"value:{name}": "0.5" for name in campaign.names}
            | ({} if asked.action.target is None else {f"value:{asked.action.target}": ""}),
        )
        assert good.status_code == 303
    assert campaign.rounds == 9


def test_what_cannot_be_set_needs_a_word_on_the_form() -> None:
    """Beside the name; a tick, or another rule, is enough."""
    given = {"name:0": "heat", "low:0": "20", "high:0": "80", "name:2": "yield"}
    given |= {"min_effect": "0.2", "epsilon": "0.1", "delta": "0.05"}
    with pytest.raises(FieldError) as found:
        specification_in(given)
    assert set(found.value.errors) == {"name:2"}
    assert "tick the box" in found.value.errors["name:2"]
    ticked = specification_in(given | {"outcome:2": "yes"})
    assert ticked.rule == "randomized" and ticked.space.outcomes == ("yield",)
    assert specification_in(given | {"rule": "gaussian"}).space.outcomes == ()


def test_switches_on_the_form() -> None:
    given = {"name:0": "pump", "low:0": "0", "high:0": "1", "name:1": "heat"}
    given |= {"low:1": "20", "high:1": "80", "min_effect": "0.2", "epsilon": "0.1", "delta": "0.05"}
    assert specification_in(given).actions.switches == ()
    assert specification_in(given | {"switch:0": "yes"}).actions.switches == ("pump",)
    with pytest.raises(FieldError, match="pump is among the switches and cannot be set"):
        specification_in(given | {"switch:0": "yes", "low:0": "", "high:0": "", "outcome:0": "yes"})


def test_downloads(campaign: Campaign, path: Path) -> None:
    with serve(path) as address:
        lines = httpx.get(f"{address}/samples.csv").text.splitlines()
        assert len(lines) == 1 + 8 and lines[0].startswith(
            "round,at,performed,who,id,action,failed,heat"
        )
        assert len(httpx.get(f"{address}/campaign.json").json()["events"]) == 16
        report = httpx.get(f"{address}/report.html")
        assert report.headers["Content-Disposition"].startswith("attachment")


def test_bad_addresses(
    tmp_path: Path, run: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    (tmp_path / "text.txt").write_text("hello, this is no campaign at all" * 50)
    assert "not an SQLite database" in run("serve", str(tmp_path / "text.txt")).stderr
    assert "There is no file" in run("serve", str(tmp_path / "x"), "--read-only").stderr
    assert "There is no file" in run("serve", str(tmp_path / "a" / "x")).stderr
    assert "letters, digits" in run("serve", str(tmp_path / "x"), "--token", "a b").stderr


@pytest.fixture
def run() -> Run:
    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "causalfocus", *arguments],
            capture_output=True,
            text=True,
            check=False,
        )

    return call
