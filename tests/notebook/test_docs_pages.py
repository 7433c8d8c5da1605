"""The pages of the documentation in a real browser: read in both themes, on a phone, off a disk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import launched
from contrast import BLENDED, WIDE

PAGES = ("index", "maps", "reference/loop")
"""One with links, one with tables and code, one that is made from docstrings."""

FOCUSED = """() => {
  const has = document.activeElement;
  const name = (has.ariaLabel || has.innerText || has.title).trim();
  const drawn = [has, ...(has.matches("input") ? has.parentElement.querySelectorAll("label") : [])];
  const seen = drawn.some((each) => {
    const { top, right, bottom, left, width } = each.getBoundingClientRect();
    const inside = bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
    return inside && width > 1 && getComputedStyle(each).outlineStyle !== "none";
  });
  return { name, seen };
}"""
"""What has the focus, and whether one sees it."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as running:
        yield running


def opened(browser: Any, theme: str, width: int) -> Any:
    size = {"width": width, "height": 900}
    return browser.new_context(color_scheme=theme, viewport=size).new_page()


@pytest.mark.parametrize("width", [1280, 480])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_can_be_read_and_no_page_is_wider_than_the_window(
    browser: Any, site: Path, theme: str, width: int
) -> None:
    page = opened(browser, theme, width)
    for name in PAGES:
        page.goto((site / f"{name}.html").as_uri())
        scheme = {"light": "default", "dark": "slate"}[theme]
        page.wait_for_selector(f'body[data-md-color-scheme="{scheme}"]')
        found = page.evaluate(BLENDED)
        assert found["seen"] > 100
        assert found["low"] == [], name
        assert page.evaluate(WIDE) == [], name
    page.context.close()


def test_what_is_too_pale_or_too_wide_is_seen(browser: Any) -> None:
    page = opened(browser, "light", 480)
    page.set_content(
        "<p style='color: #000'>fine</p><p style='color: #0007'>pale</p>"
        "<div style='opacity: .5'><p class='faint'>faint</p></div>"
        "<div style='width: 900px'>wide</div>"
        "<div style='overflow: auto'><div style='width: 900px'>scrolls</div></div>"
    )
    low = page.evaluate(BLENDED)["low"]
    assert [text for _, text, _ in low] == ["pale", "faint"]
    assert [each[:30] for each in page.evaluate(WIDE)] == ['<div style="width: 900px">wide']
    page.context.close()


def test_the_pages_are_searched_off_a_disk(browser: Any, site: Path) -> None:
    page = opened(browser, "light", 1280)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: asked.append(f"error: {error}"))
    page.goto((site / "reference" / "loop.html").as_uri())
    page.locator(".md-search button").first.click()
    field = page.get_by_role("combobox")
    field.wait_for()
    for typed in ("i", "id", "idempotent"):  # as a person types: with a search after each letter
        page.keyboard.type(typed.removeprefix(field.input_value()))
        page.get_by_text(re.compile(r"^\d+ results?$")).wait_for()
        page.wait_for_timeout(200)
        assert field.input_value() == typed
    assert [url for url in asked if not url.startswith(("file:", "data:", "about:", "blob:"))] == []
    page.context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_whoever_uses_keys_sees_where_they_are(browser: Any, site: Path, theme: str) -> None:
    """What has the focus is in the window and outlined; the switch of the theme, by its label."""
    page = opened(browser, theme, 1280)
    page.goto((site / "maps.html").as_uri())
    reached, unseen = [], []
    for _ in range(30):
        page.keyboard.press("Tab")
        told = page.evaluate(FOCUSED)
        reached.append(told["name"])
        if not told["seen"]:
            unseen.append(told)
    assert unseen == []
    assert reached[0] == "Skip to content"
    assert {"Dark", "Search", "Maps"} <= set(reached) or {"Light", "Search", "Maps"} <= set(reached)
    page.context.close()
