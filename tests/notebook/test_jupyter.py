"""One full run in the real JupyterLab and one in the real Notebook 7, and what stays of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from browsers import launched
from servers import api, notebook, serving

NEEDED = ("jupyterlab", "notebook", "nbclient", "nbconvert", "ipykernel", "anywidget")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    for name in NEEDED:
        pytest.importorskip(name, reason=f"needs {name}: pip install -e '.[dev]'")
    with launched() as found:
        yield found


KEYS = """() => {
  const card = document.querySelector(".sc-keys").closest(".sc-card").getBoundingClientRect();
  return [...document.querySelectorAll(".sc-keys > li")].map((row) => {
    const boxes = [...row.children].map((e) => e.getBoundingClientRect());
    const [key, text] = boxes, keys = [...row.querySelectorAll("kbd")];
    return {
      text: row.textContent, top: row.getBoundingClientRect().top,
      bottom: row.getBoundingClientRect().bottom,
      beside: boxes.length === 2 && key.right <= text.left && Math.abs(key.top - text.top) < 6,
      whole: keys.every((e) => e.getBoundingClientRect().right <= text.left && e.offsetWidth > 0),
      inside: boxes.every((b) => b.left >= card.left && b.right <= card.right
        && b.top >= card.top && b.bottom <= card.bottom && b.width > 0 && b.height > 0),
    };
  });
}"""
"""Where each key of the help panel stands, and where its text."""


def says(page: Any, text: str | re.Pattern[str]) -> None:
    from playwright.sync_api import expect

    expect(page.locator(".sc-status").first).to_have_text(text, timeout=20_000)


def press(page: Any, key: str, then: str | re.Pattern[str]) -> None:
    page.keyboard.press(key)
    says(page, then)


def run_first_cell(page: Any) -> None:
    """Run it until it ran: the host may not listen while its kernel connects."""
    cell = page.locator(".jp-CodeCell").first
    cell.locator(".cm-content").wait_for(timeout=60_000)
    for _ in range(30):
        dialog = page.locator(".jp-Dialog .jp-mod-accept")
        if dialog.count():  # which kernel? the one that the notebook names
            dialog.last.click()
        try:
            cell.locator(".cm-content").click(timeout=4_000)
            page.keyboard.press("Control+Enter")
            cell.locator(".sc-status").wait_for(timeout=4_000)
        except Exception:
            prompt = cell.locator(".jp-InputPrompt").inner_text()
            if "*" in prompt or re.search(r"\d", prompt):
                cell.locator(".sc-status").wait_for(timeout=60_000)
                return
        else:
            return
    raise AssertionError("the first cell never ran")


@pytest.mark.parametrize(("command", "path"), [("lab", "lab/tree"), ("notebook", "notebooks")])
def test_24_a_full_run(browser: Any, tmp_path: Path, command: str, path: str) -> None:
    file = tmp_path / "run.ipynb"
    notebook(file)
    with serving(command, tmp_path) as address:
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        outside: list[str] = []
        page.on(
            "request",
            lambda r: (
                None
                if r.url.startswith((address, "data:", "blob:", address.replace("http", "ws")))
                else outside.append(r.url)
            ),
        )
        page.goto(f"{address}/{path}/run.ipynb")
        run_first_cell(page)
        _full_run(page, file)
        _warm_and_cold(page, address, path)
        assert outside == []
        page.close()


def _full_run(page: Any, file: Path) -> None:
    cells = page.locator(".jp-Notebook .jp-Cell").count()
    says(page, "ready · next plan")
    assert page.locator(".sc-next").get_attribute("data-node") == "plan"
    page.locator(".sc-copy").first.wait_for(state="hidden")
    page.get_by_role("button", name="Step", exact=True).first.click()
    says(page, "ready · next execute")
    page.locator(".sc").focus()
    _help(page)
    for node in ("diagnose", "select strategy"):
        press(page, "n", f"ready · next {node}")
    page.locator('.sc [data-node="repair"]').focus()
    page.keyboard.press("Enter")
    page.wait_for_selector('.sc [data-node="repair"].sc-stops')
    page.locator(".sc").focus()
    press(page, "r", "paused before repair")
    press(page, "n", "ready · next validate")
    assert page.locator(".sc-change ins").first.is_visible()
    for key in ("m", "d", "d", "y", "c"):
        page.keyboard.press(key)
    page.keyboard.press("e")
    field = page.locator(".sc textarea")
    field.fill("{")
    page.keyboard.press("Control+Enter")
    page.locator(".sc [role=alert]", has_text="Expecting").wait_for()
    field.fill('{"to": "LHR", "day": "2026-10-27", "seats": 3}')
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".sc .sc-item.sc-edit")
    page.locator(".sc").focus()
    press(page, "r", "finished: ok")
    assert page.locator(".sc .sc-do-step").is_disabled()
    press(page, "b", re.compile("^past"))
    page.locator(".sc .sc-item").nth(2).click()
    says(page, re.compile("^past · step 2 of"))
    page.locator(".sc .sc-item").last.click()
    says(page, "finished: ok")
    assert page.locator(".jp-Notebook .jp-Cell").count() == cells
    page.locator(".sc").focus()
    page.keyboard.press("Control+s")
    saved: dict[str, Any] = {"cells": [{}]}
    for _ in range(100):
        with suppress(ValueError):  # it may be read while it is written
            saved = json.loads(file.read_text(encoding="utf-8"))
        if "finished: ok" in json.dumps(saved["cells"][0].get("outputs", [])):
            break
        page.wait_for_timeout(100)
    outputs = json.dumps(saved["cells"][0]["outputs"])
    assert "finished: ok" in outputs
    assert "data:image/svg+xml;base64," in outputs
    assert len(saved["cells"]) == cells


def _help(page: Any) -> None:
    """The host's own style sheet leaves each key beside its text, one row under the other."""
    page.keyboard.press("?")
    page.locator(".sc-keys").wait_for()
    rows = page.evaluate(KEYS)
    assert len(rows) > 10
    for row in rows:
        assert row["beside"], row
        assert row["whole"], row
        assert row["inside"], row
    for above, below in pairwise(rows):
        assert above["bottom"] <= below["top"], (above, below)
    page.keyboard.press("Escape")


def _warm_and_cold(page: Any, address: str, path: str) -> None:
    page.goto("about:blank")
    page.goto(f"{address}/{path}/run.ipynb")
    page.locator(".sc-status").first.wait_for(timeout=60_000)
    says(page, "finished: ok")
    page.locator(".sc").focus()
    press(page, "b", re.compile("^past"))
    page.goto("about:blank")
    for session in api(f"{address}/api/sessions"):
        api(f"{address}/api/sessions/{session['id']}", "DELETE")
    page.goto(f"{address}/{path}/run.ipynb")
    copy = page.locator(".sc-copy").first
    copy.wait_for(timeout=60_000)
    assert copy.locator("img").evaluate("e => e.naturalWidth") > 100
    assert "execute" in copy.locator("table").inner_text()


def test_19_an_executed_and_converted_notebook_shows_picture_and_table(tmp_path: Path) -> None:
    for name in NEEDED:
        pytest.importorskip(name, reason=f"needs {name}: pip install -e '.[dev]'")
    import subprocess
    import sys

    code = f"""
import os, sys, nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter
sys.path.insert(0, {str(Path(__file__).parent)!r})
from servers import notebook, ROOT
from pathlib import Path
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), {str(Path(__file__).parent)!r}])
file = Path({str(tmp_path)!r}) / "run.ipynb"
notebook(file)
made = nbformat.read(file, 4)
made.cells[0].source += ".run()"
NotebookClient(made, timeout=120, kernel_name="python3").execute()
page, _ = HTMLExporter().from_notebook_node(made)
(Path({str(tmp_path)!r}) / "run.html").write_text(page, encoding="utf-8")
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=180, capture_output=True)
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert 'src="data:image/svg+xml;base64,' in page
    assert "<table>" in page
    assert "finished: ok" in page
