"""The replay page as a browser shows it: names, keyboard, contrast, in both themes, also narrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from audit import AUDIT
from browsers import launched
from contrast import CONTRAST, LINES
from worlds import BROKEN, World

from selfcorrect.notebook import trail


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as found:
        yield found


@pytest.fixture(scope="module")
def replay(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of a run that was mended, and one that failed."""
    path = tmp_path_factory.mktemp("pages") / "replay.html"
    long = "a-name-without-any-place-to-break-it-" * 4
    runs = [
        {"title": "first", **World().graph().invoke({"call": BROKEN})},
        {"title": long, **World(PermissionError("403")).graph().invoke({"call": BROKEN})},
    ]
    trail(runs).to_html(path)
    return path


@pytest.mark.parametrize("width", [480, 1180])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_replay_page_can_be_read_by_everybody(
    browser: Any, replay: Path, theme: str, width: int
) -> None:
    page = browser.new_page(
        viewport={"width": width, "height": 900}, color_scheme=theme, reduced_motion="reduce"
    )
    page.goto(replay.as_uri())
    for keys in ("", "r", "?"):
        for key in keys:
            page.locator(".sc").focus()
            page.keyboard.press(key)
        found = page.evaluate(AUDIT)
        assert found["faults"] == []
        assert found["controls"] > 10
        for check in (CONTRAST, LINES):
            seen = page.evaluate(check)
            assert seen["seen"] > 20
            assert seen["low"] == []
    assert page.evaluate("getComputedStyle(document.querySelector('h1')).color") == (
        "rgb(0, 0, 0)" if theme == "light" else "rgb(255, 255, 255)"
    )
    page.close()


def test_the_replay_page_is_worked_by_keys_alone(browser: Any, replay: Path) -> None:
    page = browser.new_page()
    page.goto(replay.as_uri())
    controls = page.evaluate(AUDIT)["controls"]
    reached: dict[str, bool] = {}
    for _ in range(controls + 1):
        page.keyboard.press("Tab")
        told = page.evaluate(
            """() => { const e = document.activeElement; if (e === document.body) return null;
            return [e.dataset.key || e.className, getComputedStyle(e).outlineStyle !== "none"]; }"""
        )
        if told is None:
            break
        reached.setdefault(*told)
    assert all(reached.values()), reached
    for needed in ("run-0", "run-1", "do-step", "find", "help", "item-3"):
        assert needed in reached
    page.locator("[data-key=run-1]").focus()
    page.keyboard.press("Enter")
    page.locator("[data-key=run-1][aria-current]").wait_for()
    assert page.evaluate("document.activeElement.dataset.key") == "run-1"
    page.close()


def test_without_scripts_it_begins_with_the_table_too(browser: Any, replay: Path) -> None:
    bare = browser.new_context(java_script_enabled=False).new_page()
    bare.goto(replay.as_uri())
    assert bare.locator("h1").inner_text() == "2 recorded runs"
    rows = bare.locator("#run > table").first.locator("tr").all_inner_texts()
    assert rows[0].split("\t") == ["run", "outcome", "changes", "time"]
    assert rows[1].startswith("first\tfinished: ok\t2\t")
    bare.context.close()


def test_the_documentation_can_be_read_by_everybody(browser: Any, site: Path) -> None:
    """What the pages hold; the colours of texts are the theme's."""
    page = browser.new_page(viewport={"width": 480, "height": 900})
    paths = sorted(path for path in site.rglob("*.html") if path.name != "404.html")
    assert len(paths) > 20
    faults = {}
    for path in paths:
        page.goto(path.as_uri())
        found = page.evaluate(AUDIT)
        assert found["controls"] > 5
        if found["faults"]:
            faults[path.relative_to(site).as_posix()] = found["faults"]
    page.close()
    assert faults == {}
