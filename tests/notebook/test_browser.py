"""The real module on a bare page, the real widget behind it: what a person sees and presses."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from bridge import Bridge
from browsers import launched
from contrast import CONTRAST, LINES
from worlds import BROKEN, Flaky, Gate, World, asks, letters, line, matching_map

from selfcorrect import NotDone
from selfcorrect.notebook import Stepper, trail

Opened = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as found:
        yield found


@pytest.fixture
def opened(browser: Any) -> Iterator[Opened]:
    """Opens a page on steppers, and holds that it asks nobody else and complains of nothing."""
    from playwright.sync_api import expect

    expect.set_options(timeout=15_000)
    bridges, pages, faults = [], [], []

    def open_(*steppers: Any, theme: str = "light", width: int = 1180) -> Any:
        bridge = Bridge(*steppers, theme=theme)
        bridges.append(bridge)
        page = browser.new_page(
            viewport={"width": width, "height": 900}, color_scheme=theme, reduced_motion="reduce"
        )
        pages.append(page)
        page.on("console", lambda m: faults.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "request",
            lambda r: (
                None if r.url.startswith((bridge.url, "data:", "blob:")) else faults.append(r.url)
            ),
        )
        page.goto(bridge.url)
        page.wait_for_selector("body[data-ready]", state="attached")
        page.bridge = bridge
        return page

    yield open_
    for page in pages:
        page.close()
    for bridge in bridges:
        bridge.close()
    assert faults == []


def asked_elsewhere(url: str, home: str) -> list[str]:
    return [] if url.startswith((home, "data:", "blob:")) else [url]


def says(page: Any, text: str | re.Pattern[str], cell: int = 0) -> None:
    from playwright.sync_api import expect

    expect(page.locator(".sc-status").nth(cell)).to_have_text(text)


def focus(page: Any, cell: int = 0) -> Any:
    root = page.locator(".sc").nth(cell)
    root.focus()
    return root


def press(page: Any, key: str, then: str | re.Pattern[str] | None = None) -> None:
    page.keyboard.press(key)
    if then is not None:
        says(page, then)


def mended(**wiring: Any) -> tuple[World, Stepper]:
    world = World()
    return world, Stepper(world.graph(**wiring), {"call": BROKEN}, title="a booking")


def test_01_the_first_view(opened: Opened) -> None:
    _, stepper = mended()
    page = opened(stepper)
    says(page, "ready · next plan")
    assert page.locator(".sc").is_visible()
    assert page.locator(".sc-next").get_attribute("data-node") == "plan"


def test_02_a_step_makes_plan_current(opened: Opened) -> None:
    _, stepper = mended()
    page = opened(stepper)
    page.get_by_role("button", name="Step").click()
    says(page, "ready · next execute")
    assert page.locator(".sc-current").get_attribute("data-node") == "plan"


def test_03_keys_follow_the_nodes_and_a_repair_shows_its_diff(opened: Opened) -> None:
    _, stepper = mended()
    page = opened(stepper)
    focus(page)
    for node in ("execute", "diagnose", "select strategy", "repair", "validate"):
        press(page, "n", f"ready · next {node}")
    diff = page.locator(".sc-change .sc-diff")
    assert diff.nth(1).locator("del").inner_text().endswith('"two"')
    assert diff.nth(1).locator("ins").inner_text().endswith("2")
    press(page, "ArrowRight", "ready · next retry")


def test_04_the_matched_text_is_marked_and_its_groups_are_listed(opened: Opened) -> None:
    world = World(LookupError("no flight to CDG on 2026-10-26, sorry"))
    stepper = Stepper(world.graph(strategies=matching_map()), {"call": {"name": "book", "args": {
        "to": "CDG", "day": "2026-10-26", "seats": 2}}}).run(until="select_strategy")  # fmt: skip
    page = opened(stepper)
    marks = page.locator(".sc-why mark")
    assert marks.all_inner_texts() == ["no flight to ", "CDG", " on ", "2026-10-26"]
    assert page.locator(".sc-groups tr").all_inner_texts() == ["place\tCDG", "got\t2026-10-26"]
    assert "(?P<place>" in page.locator(".sc-why").inner_text()


def test_05_back_moves_the_head_and_calls_nothing(opened: Opened) -> None:
    world, stepper = mended()
    page = opened(stepper.run())
    focus(page)
    press(page, "b", re.compile("^past"))
    assert page.locator(".sc-item.sc-left").count() == 1
    press(page, "ArrowLeft", re.compile("step 6 of 8"))
    assert page.locator(".sc-item.sc-left").count() == 2
    assert len(world.booked) == 1
    assert "stays done" in page.get_by_role("button", name="Back").get_attribute("title")


def test_06_letters_stay_inside_and_ctrl_s_gets_out(opened: Opened) -> None:
    _, stepper = mended()
    page = opened(stepper)
    page.evaluate("""() => { window.heard = [];
        document.addEventListener("keydown", (e) => {
          window.heard.push((e.ctrlKey ? "Ctrl+" : "") + e.key);
          if (e.ctrlKey) e.preventDefault(); });
        window.taken = [];
        document.addEventListener("keydown", (e) => {
          if (!e.target.closest("[data-lm-suppress-shortcuts]")) window.taken.push(e.key); },
          true); }""")
    focus(page)
    for key in ("a", "b", "x", "d", "d", "m", "Control+s", "Escape"):
        page.keyboard.press(key)
    assert [key for key in page.evaluate("window.heard") if "Control" not in key] == ["Ctrl+s"]
    assert page.evaluate("window.taken") == ["Control", "s"]
    page.locator("#outside").focus()
    page.keyboard.type("nnr")
    says(page, "ready · next plan")
    assert page.locator("#outside").input_value() == "nnr"


def test_07_a_breakpoint_stops_a_run_before_its_node(opened: Opened) -> None:
    _, stepper = mended()
    page = opened(stepper)
    page.locator('[data-node="repair"]').focus()
    page.keyboard.press("Enter")
    page.wait_for_selector('[data-node="repair"].sc-stops')
    press(page, "r", "paused before repair")
    page.locator('[data-node="repair"]').click()
    page.wait_for_selector('[data-node="repair"]:not(.sc-stops)')
    focus(page)
    press(page, ".")
    page.wait_for_selector('[data-node="repair"].sc-stops')


@pytest.mark.parametrize(
    ("text", "told"),
    [("{", "Expecting"), ("[1]", "object is needed"), ('{"seats": NaN}', "not a JSON number")],
)
def test_08_a_bad_edit_is_told_and_writes_nothing(opened: Opened, text: str, told: str) -> None:
    from playwright.sync_api import expect

    _, stepper = mended()
    page = opened(stepper.step())
    count, before = len(stepper.history), stepper._driver.state().config
    focus(page)
    page.keyboard.press("e")
    page.locator("textarea[data-key=edit-text]").fill(text)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text(told)
    assert page.locator("textarea[data-key=edit-text]").input_value() == text
    assert len(stepper.history) == count
    assert stepper._driver.state().config == before
    page.keyboard.press("Escape")
    expect(page.locator("textarea[data-key=edit-text]")).to_have_count(0)


def test_09_a_good_edit_forks_and_shows_as_an_edit(opened: Opened) -> None:
    world, stepper = mended()
    page = opened(stepper.step())
    focus(page)
    page.keyboard.press("e")
    field = page.locator("textarea[data-key=edit-text]")
    field.fill(field.input_value().replace('"two"', "3").replace("Oct 26, 2026", "2026-10-27"))
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".sc-item.sc-edit")
    says(page, "ready · next execute")
    colour = page.locator(".sc-item.sc-edit").evaluate("e => getComputedStyle(e).color")
    assert colour == "rgb(116, 57, 184)"
    press(page, "r", "finished: ok")
    assert world.booked == [{"to": "CDG", "day": "2026-10-27", "seats": 3}]


def test_09b_options_of_a_strategy_are_checked_in_the_form(opened: Opened) -> None:
    from playwright.sync_api import expect

    world = World()
    call = {"name": "book", "args": {"to": "CDG", "day": "tomorrow", "seats": 2}}
    stepper = Stepper(world.graph(), {"call": call}).run(until="repair")
    page = opened(stepper)
    count = len(stepper.history)
    focus(page)
    page.keyboard.press("e")
    field = page.get_by_label("Options of the strategy as JSON")
    for text, told in (
        ("{", "options: Expecting"),
        ('{"relativ": true}', "did you mean 'relative'"),
        ('{"relative": 1}', "should be bool"),
    ):
        field.fill(text)
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("alert")).to_contain_text(told)
        expect(field).to_have_attribute("aria-invalid", "true")
        assert field.input_value() == text
        assert len(stepper.history) == count
    assert page.get_by_label("Arguments as JSON").get_attribute("aria-invalid") is None
    field.fill('{"relative": true}')
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".sc-item.sc-edit")
    focus(page)
    press(page, "r", "finished: ok")
    assert len(world.booked) == 1


def test_10_a_run_to_the_end(opened: Opened) -> None:
    _, stepper = mended()
    page = opened(stepper)
    focus(page)
    press(page, "r", "finished: ok")
    visits = {
        node.get_attribute("data-node"): node.locator(".sc-visits").text_content()
        for node in page.locator(".sc-node").all()
    }
    assert visits["execute"] == "2"
    assert visits["plan"] == visits["repair"] == visits["retry"] == "1"
    assert visits["report_failure"] == ""
    labels = page.locator(".sc-taken .sc-label").all_text_contents()
    assert "failed ×1" in labels
    assert "done ×1" in labels
    assert page.get_by_role("button", name="Step").is_disabled()
    assert "2 to CDG on 2026-10-26" in page.locator(".sc-result").inner_text()


def test_11_the_timeline_moves_the_head(opened: Opened) -> None:
    _, stepper = mended()
    page = opened(stepper.run())
    page.locator(".sc-item").nth(3).click()
    says(page, re.compile("^past · step 3 of 8 · next select strategy"))
    assert page.locator(".sc-current").get_attribute("data-node") == "diagnose"
    page.locator(".sc-item").nth(5).focus()
    press(page, "Enter", re.compile("step 5 of 8"))


def test_12_a_slow_node_can_be_paused_after(opened: Opened) -> None:
    gate = Gate()
    slow = Stepper(line(gate, lambda _: {}, lambda _: {}), {"word": "x"})
    _, other = mended()
    page = opened(slow, other)
    focus(page)
    press(page, "r", "running · n0")
    assert gate.entered.wait(10)
    focus(page, 1)
    page.keyboard.press("n")
    says(page, "ready · next execute", 1)
    focus(page)
    page.keyboard.press("p")
    deadline = time.monotonic() + 10
    while not slow._pause.is_set() and time.monotonic() < deadline:
        page.wait_for_timeout(20)
    gate.open.set()
    says(page, "paused · next n1")


def test_13_a_step_tries_a_node_again_that_raised(opened: Opened) -> None:
    flaky = Flaky(1)
    page = opened(Stepper(line(flaky), {"word": "x"}))
    focus(page)
    press(page, "n", re.compile("^error in n0: RuntimeError"))
    assert "the node broke" in page.locator(".sc-status").inner_text()
    assert page.locator(".sc-item.sc-error:not(.sc-left)").count() == 1
    page.get_by_role("button", name="Retry").click()
    says(page, "finished: ok")
    assert flaky.runs == 2


def test_14_a_question_waits_and_an_answer_goes_on(opened: Opened) -> None:
    world = World()
    call = {"name": "book", "args": {"to": "CDG", "day": "2026-10-26", "seats": "2.5"}}
    page = opened(Stepper(world.graph(), {"call": call}), Stepper(asks(), {"word": ""}))
    focus(page)
    press(page, "r", "waiting for a person")
    page.keyboard.press("a")
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    says(page, "ready · next validate")
    focus(page)
    press(page, "r", "finished: ok")
    assert world.booked[0]["seats"] == 3
    focus(page, 1)
    page.keyboard.press("r")
    says(page, "waiting for a person", 1)


def test_15_a_failed_run_lists_every_attempt(opened: Opened) -> None:
    world = World(NotDone("connection refused"))
    stepper = Stepper(world.graph(), {"call": BROKEN}).run()
    page = opened(stepper)
    says(page, re.compile("^finished: failed"))
    attempts = stepper.values["failure"]["attempts"]
    assert len(attempts) == len(world.booked) > 1
    assert page.locator(".sc-attempts tbody tr").count() == len(attempts)


def mended_and_run() -> Stepper:
    return mended()[1].run()


def _states() -> dict[str, Callable[[], Stepper]]:
    question = {"name": "book", "args": {"to": "CDG", "day": "2026-10-26", "seats": "2.5"}}
    refused = ConnectionRefusedError("connection refused")
    return {
        "ready": lambda: mended()[1].run(until="validate"),
        "why": lambda: mended()[1].run(until="select_strategy"),
        "ok": mended_and_run,
        "past": lambda: mended()[1].run().back(),
        "breakpoint": lambda: mended()[1].break_at("repair").run(),
        "edit": lambda: mended()[1].step().edit({"args": {"to": "LHR"}}),
        "error": lambda: Stepper(line(Flaky(1)), {"word": "x"}).step(),
        "question": lambda: Stepper(World().graph(), {"call": question}).run(),
        "failed": lambda: Stepper(World(refused).graph(), {"call": BROKEN}).run(),
        "second": lambda: Stepper(letters(), {"seen": []}).run().back().run(),
    }


@pytest.mark.parametrize("state", sorted(_states()))
def test_16_every_text_and_line_has_contrast(opened: Opened, state: str) -> None:
    page = opened(_states()[state]())
    focus(page)
    for key in ("Escape", "e", "Escape", "?", "x"):
        page.keyboard.press(key)
        for light in ("true", "false"):
            page.evaluate(f"document.body.dataset.jpThemeLight = '{light}'")
            found = page.evaluate(CONTRAST)
            assert found["seen"] > 20
            assert found["low"] == []
            drawn = page.evaluate(LINES)
            assert drawn["seen"] > 20
            assert drawn["low"] == []


def test_17_keyboard_only_and_every_control_has_a_name(opened: Opened) -> None:
    _, stepper = mended()
    page = opened(stepper.run().back())
    page.locator("#outside").focus()
    seen = []
    for _ in range(60):
        page.keyboard.press("Tab")
        name = page.evaluate(
            """() => { const e = document.activeElement; if (!e.closest(".sc")) return null;
            const box = getComputedStyle(e); return [e.dataset.key || e.className,
            (e.getAttribute("aria-label") || e.textContent).trim(),
            box.outlineStyle !== "none" || e.tagName === "g"]; }"""
        )
        if name is None:
            break
        seen.append(name)
    keys = [key for key, _, _ in seen]
    assert all(label for _, label, _ in seen)
    assert all(ring for _, _, ring in seen)
    for needed in ("do-step", "do-run", "do-back", "do-edit", "do-restart", "export", "help"):
        assert needed in keys
    assert "node-repair" in keys
    assert "item-3" in keys
    assert page.locator("[role=status][aria-live=polite]").count() == 1
    assert page.locator("[role=alert]").count() == 1


def test_20_a_replay_from_a_file_under_its_own_policy(
    opened: Opened, browser: Any, tmp_path: Path
) -> None:
    opened(mended()[1])
    world, stepper = mended()
    path = tmp_path / "run.html"
    stepper.run().to_html(path)
    text = path.read_text(encoding="utf-8")
    assert "content=\"default-src 'none';" in text
    faults: list[str] = []
    page = browser.new_page()
    page.on("console", lambda m: faults.append(m.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda r: faults.append(r.url) if r.url.startswith("http") else None)
    page.goto(path.as_uri())
    says(page, re.compile("^step 0 of 8"))
    focus(page)
    press(page, "n", "step 1 of 8")
    press(page, "r", "finished: ok")
    assert page.locator('[data-node="execute"] .sc-visits').text_content() == "2"
    page.locator(".sc-item").nth(5).click()
    assert page.locator(".sc-change > ul ins").count() == 2
    page.close()
    assert faults == []
    bare = browser.new_context(java_script_enabled=False).new_page()
    bare.goto(path.as_uri())
    assert bare.locator("img").evaluate("e => e.naturalWidth") > 100
    assert "execute" in bare.locator("table").inner_text()
    bare.context.close()
    assert len(world.booked) == 1


def test_20b_several_runs_in_one_page_are_a_table_to_choose_from(
    browser: Any, tmp_path: Path
) -> None:
    graph = World().graph()
    runs = [
        {"title": "first", **graph.invoke({"call": BROKEN})},
        {"title": "second", **graph.invoke({"call": {"name": "nothing", "args": {}}})},
    ]
    path = tmp_path / "runs.html"
    trail(runs).to_html(path)
    page = browser.new_page()
    page.goto(path.as_uri())
    assert page.locator("main h1").inner_text() == "2 recorded runs"
    assert page.evaluate("document.querySelector('.sc').firstElementChild.className") == (
        "sc-contents"
    )
    cells = [row.all_inner_texts() for row in (
        page.locator(f".sc-runs tbody tr:nth-child({n}) > *") for n in (1, 2))]  # fmt: skip
    assert [row[0] for row in cells] == ["first", "second"]
    assert cells[0][1:3] == ["finished: ok", "2"]
    assert cells[1][1].startswith("finished: failed")
    assert cells[1][2] == "0"
    assert cells[0][3].endswith("s")
    assert page.get_by_role("button", name="first").get_attribute("aria-current") == "true"
    page.get_by_role("button", name="second").click()
    assert page.get_by_role("button", name="second").get_attribute("aria-current") == "true"
    assert page.locator(".sc-title").inner_text() == "second"
    focus(page)
    press(page, "r", re.compile("^finished: failed"))
    page.close()


def test_20c_a_replay_lists_only_what_it_can_do(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.html"
    mended()[1].run().to_html(path)
    page = browser.new_page()
    page.goto(path.as_uri())
    focus(page)
    page.keyboard.press("?")
    listed = page.locator(".sc-keys").inner_text()
    for word in ("next step", "to the end", "search", "to the start"):
        assert word in listed
    for word in ("edit", "pause", "breakpoint", "answer", "export", "form"):
        assert word not in listed
    assert page.locator(".sc-bar button:visible").all_inner_texts() == [
        "Back", "Next", "End", "Start", "?"
    ]  # fmt: skip
    page.close()


def test_the_last_step_shows_result_and_changes_before_internals(opened: Opened) -> None:
    page = opened(mended()[1].run())
    titles = page.locator(".sc-panels h3").all_inner_texts()
    assert [title.upper() for title in titles[:2]] == ["RESULT", "2 CHANGES OF THIS RUN"]
    assert titles[-1].upper() == "STATE"
    assert page.locator(".sc-run .sc-diff").count() == 2
    kept = page.locator(".sc-state > details")
    assert kept.get_attribute("open") is None
    assert not page.locator(".sc-state table").is_visible()
    kept.locator("> summary").click()
    trail_ = page.locator(".sc-state tr", has=page.get_by_role("rowheader", name="trail"))
    trail_.locator("summary").click()
    assert '[\n  {\n    "step": 0,\n    "node": "plan",' in trail_.locator("td").inner_text()


def test_steps_and_state_can_be_searched(opened: Opened) -> None:
    from playwright.sync_api import expect

    page = opened(mended()[1].run(until="validate"))
    steps, keys = page.locator(".sc-item").count(), page.locator(".sc-state tr").count()
    focus(page)
    page.keyboard.press("/")
    page.keyboard.type("not called")
    said = page.locator(".sc-found")
    expect(said).to_have_text(f"1 of {steps} steps, 0 of {keys} keys")
    assert said.get_attribute("aria-live") == "polite"
    assert page.locator(".sc-item").all_inner_texts() == ["execute"]
    field = page.get_by_role("searchbox", name="Search steps and state")
    field.fill("2026-10-26")
    expect(page.locator(".sc-state tr").first).to_contain_text("2026-10-26")
    assert 0 < page.locator(".sc-state tr").count() < keys
    page.keyboard.press("Escape")
    expect(said).to_have_text("")
    assert page.locator(".sc-item").count() == steps
    press(page, "n", "ready · next retry")
    assert field.input_value() == ""


def test_22_two_steppers_on_a_page_do_not_mix(opened: Opened) -> None:
    page = opened(mended()[1], mended()[1])
    focus(page)
    page.keyboard.press("n")
    says(page, "ready · next execute", 0)
    says(page, "ready · next plan", 1)
    focus(page, 1)
    page.keyboard.press("r")
    says(page, "finished: ok", 1)
    says(page, "ready · next execute", 0)


def test_23_hostile_state_is_text(opened: Opened) -> None:
    hostile = {
        "word": "<script>window.pwned=1</script><img src=x onerror='window.pwned=1'>\"'`${1}",
        "seen": ["x" * 10_000, "\u202egnp.exe", "</script><b>bold</b>"],
    }
    stepper = Stepper(line(lambda _: hostile), {"word": ""}, title="<i>title</i>\u202e").run()
    page = opened(stepper)
    says(page, "finished: ok")
    assert page.evaluate("window.pwned") is None
    assert page.locator(".sc script, .sc img, .sc b, .sc i").count() == 0
    text = page.locator(".sc").evaluate("e => e.textContent")
    assert "<script>window.pwned=1</script>" in text
    assert "\u202e" not in text
    assert "more characters" in text
    assert len(text) < 6_000


def test_23b_ten_thousand_steps_stay_quick(opened: Opened) -> None:
    stepper = Stepper(line(lambda _: {"word": "x"}), {"word": ""})
    _long(stepper, 10_000)
    page = opened(stepper)
    assert page.evaluate("window.paintedIn") < 1_000
    assert page.locator(".sc-item").count() <= 240
    assert "earlier" in page.locator(".sc-time").inner_text()
    focus(page)
    page.keyboard.press("b")
    says(page, re.compile("^past · step 9999 of 10000"))


def test_a_trail_of_a_thousand_steps_renders_within_a_second(browser: Any, tmp_path: Path) -> None:
    pair = ("execute", "diagnose")
    events = [{"step": n, "node": pair[n % 2], "next": pair[1 - n % 2]} for n in range(1_000)]
    path = tmp_path / "long.html"
    trail({"trail": events}).to_html(path)
    page, times = browser.new_page(), []
    for _ in range(3):
        page.goto(path.as_uri())
        says(page, "step 0 of 1000")
        times.append(page.evaluate("performance.now()"))
    page.close()
    told = f"{min(times):.0f} ms after the page was opened (best of {len(times)})"
    print(f"\na trail of 1,000 steps: on screen {told}")  # noqa: T201 -- a measurement
    assert min(times) < 1_000


def test_a_kernel_that_does_not_answer_is_told(opened: Opened) -> None:
    _, stepper = mended()
    page = opened(stepper)
    page.evaluate("window.silent = true")
    focus(page)
    page.keyboard.press("n")
    says(page, re.compile("^detached"))


def test_exports_are_saved_by_the_browser(opened: Opened) -> None:
    _, stepper = mended()
    page = opened(stepper.run())
    focus(page)
    page.keyboard.press("x")
    with page.expect_download() as download:
        page.get_by_role("button", name="JSON").click()
    assert download.value.suggested_filename == "run.json"
    assert json.loads(Path(download.value.path()).read_text(encoding="utf-8"))["format"] == 1


def test_a_second_execution_is_confirmed_twice(opened: Opened) -> None:
    world, stepper = mended()
    page = opened(stepper.run().back())
    page.get_by_role("button", name="Execute it again instead").click()
    assert len(world.booked) == 1
    page.get_by_role("button", name="Yes, execute a second time").click()
    says(page, "finished: ok")
    assert len(world.booked) == 2


def test_one_column_where_it_is_narrow(opened: Opened) -> None:
    page = opened(mended()[1].run(), width=480)
    graph, panels = (page.locator(name).bounding_box() for name in (".sc-graph", ".sc-panels"))
    assert panels["y"] >= graph["y"] + graph["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 480


def _long(stepper: Stepper, steps: int) -> None:
    """A history of many steps, without running them."""
    from selfcorrect.notebook.frame import Frame

    first = stepper.here
    for number in range(steps):
        parent = number or first.number
        frame = Frame("", None, nodes=("n0",), title=f"step {number}", seconds=0.001)
        stepper.history.add(frame, checkpoint=f"c{number}", parent=parent, following=("n0",))
    stepper._recorder.values_of = lambda _: {"word": "x"}
