"""What a person sees and presses in JupyterLab and Notebook 7, in a real browser without a network."""

import re
import subprocess
import sys
from pathlib import Path

import lab
import pytest
from playwright.sync_api import expect

CELLS = (
    "mended", "mended", "matched", "fails", "asks", "slow", "flaky", "hostile", "mended", "mended",
)  # fmt: skip
COUNT = "len(cells.ran)"
CONTRAST = (Path(__file__).parent / "data" / "contrast.js").read_text("utf-8")


@pytest.fixture(scope="module")
def browser():
    with lab.browse() as found:
        yield found


@pytest.fixture(scope="module", params=["lab", "notebook"])
def page(request, browser, tmp_path_factory):
    """A notebook with all its cells run, in both applications."""
    folder = tmp_path_factory.mktemp(request.param)
    lab.write(folder / "a.ipynb", "import cells", *(f"cells.{each}()" for each in CELLS), COUNT)
    with lab.serve(folder, request.param) as url:
        found = lab.open_notebook(browser, url, request.param, "a.ipynb")
        lab.run_all(found)
        yield found
        assert found.faults == []
        found.close()


@pytest.fixture
def cell(page, request):
    """Return the page and a live cell by its number."""

    def find(number):
        return page.locator(".selfcorrect").nth(number)

    return find


def says(cell, text):
    expect(cell.locator(".status")).to_have_text(re.compile(text), timeout=10_000)


def press(cell, key, text):
    cell.press(key)
    says(cell, text)


def steps(cell):
    return cell.locator(".steps li")


def count(page):
    """Run the last cell of the notebook, which says how often the tool ran."""
    last = page.locator(".jp-CodeCell").last
    last.locator(".jp-InputArea-editor").click()
    before = last.locator(".jp-InputPrompt").first.inner_text()
    page.keyboard.press("Control+Enter")
    expect(last.locator(".jp-InputPrompt").first).not_to_have_text(before, timeout=10_000)
    page.keyboard.press("Escape")
    return int(last.locator(".jp-OutputArea-output").inner_text())


def test_01_the_first_view(page, cell):
    expect(cell(0)).to_be_visible()
    says(cell(0), "Step runs plan")
    assert cell(0).locator("g.next").get_attribute("data-node") == "plan"
    assert page.faults == []


def test_02_a_step(cell):
    cell(0).get_by_role("button", name="Step", exact=True).click()
    says(cell(0), "before execute")
    assert cell(0).locator("g.current").get_attribute("data-node") == "plan"


def test_03_keys_follow_the_nodes_and_a_repair_shows_its_changes(cell):
    for node in ("diagnose", "select_strategy", "repair", "validate"):
        press(cell(0), "n", f"before {node}")
    changes = cell(0).locator("table", has_text="Change").first
    expect(changes).to_contain_text('"Oct 26, 2026"')
    expect(changes).to_contain_text('"2026-10-26"')
    press(cell(0), "ArrowRight", "before retry")


def test_04_the_match_and_its_groups(cell):
    for _ in range(3):
        cell(2).press("n")
    says(cell(2), "before select_strategy")
    marks = cell(2).locator("mark").all_inner_texts()
    assert marks == ["no flight to ", "CDG", " on ", "2026-10-26"]
    expect(cell(2).locator("table", has_text="Group")).to_contain_text("CDG")
    expect(cell(2).locator("code")).to_contain_text("(?P<place>")


def test_05_back_moves_the_head_and_runs_nothing(page, cell):
    press(cell(1), "r", "ended with a result")
    before, ran = steps(cell(1)).count(), count(page)
    press(cell(1), "b", "earlier state")
    press(cell(1), "ArrowLeft", "earlier state")
    expect(cell(1).locator(".steps .left")).to_have_count(2)
    assert (steps(cell(1)).count(), count(page)) == (before, ran)


def test_06_letters_stay_inside_and_ctrl_s_saves(page, cell):
    cells = page.locator(".jp-CodeCell").count()
    for key in ("a", "b", "x", "d", "d", "m", "Escape"):
        cell(8).press(key)
    assert page.locator(".jp-CodeCell").count() == cells
    page.on("request", lambda each: saved.append(each.url) if each.method == "PUT" else None)
    saved = []
    cell(8).press("Control+s")
    page.wait_for_timeout(1_000)
    assert any("api/contents" in each for each in saved)


def test_07_a_breakpoint_stops_a_run(cell):
    node = cell(8).locator('[data-node="repair"]')
    node.focus()
    node.press("Enter")
    expect(node).to_contain_text("stops here")
    press(cell(8), "r", "before repair")
    press(cell(8), ".", "before repair")
    expect(node).not_to_contain_text("stops here")


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("args", "{", "no JSON"),
        ("args", "[1]", "must be a JSON object"),
        ("values", '{"curent": 1}', "did you mean 'current'"),
    ],
)
def test_08_a_bad_edit_is_told_and_writes_nothing(cell, name, text, why):
    before = steps(cell(8)).count()
    cell(8).press("e")
    field = cell(8).locator(f"[name={name}]")
    kept = field.input_value()
    field.fill(text)
    field.press("Control+Enter")
    expect(cell(8).get_by_role("alert")).to_contain_text(why)
    assert (field.input_value(), steps(cell(8)).count()) == (text, before)
    field.fill(kept)
    field.press("Escape")
    expect(field).not_to_be_visible()


def test_09_a_good_edit_forks_and_shows_as_one(cell):
    steps(cell(8)).nth(1).get_by_role("button").click()
    says(cell(8), "new branch with execute")
    cell(8).press("e")
    field = cell(8).locator("[name=args]")
    field.fill('{"to": "LHR", "day": "2026-10-27", "seats": 3}')
    field.press("Control+Enter")
    expect(cell(8).locator(".steps .edit")).to_have_count(1)
    press(cell(8), "r", "ended with a result")
    expect(cell(8)).to_contain_text("3 to LHR on 2026-10-27")


def test_10_a_run_to_the_end(cell):
    press(cell(9), "r", "ended with a result")
    for node, visits in {"plan": 1, "execute": 2, "repair": 1, "retry": 1}.items():
        expect(cell(9).locator(f'[data-node="{node}"]')).to_contain_text(f"×{visits}")
    expect(cell(9).locator('[data-node="report_failure"]')).not_to_contain_text("×")
    expect(cell(9).get_by_role("button", name="Step", exact=True)).to_be_disabled()


def test_11_the_timeline_moves_the_head(cell):
    steps(cell(9)).nth(3).get_by_role("button").click()
    says(cell(9), "new branch with select_strategy")
    button = steps(cell(9)).nth(5).get_by_role("button")
    button.focus()
    button.press("Enter")
    says(cell(9), "new branch with validate")
