"""What a person sees and presses in JupyterLab and Notebook 7, in a browser without a network."""

import re
import subprocess
import sys
from pathlib import Path

import cells
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
    changes = cell(0).locator("table", has_text="before").last
    expect(changes).to_contain_text('"Oct 26, 2026"')
    expect(changes).to_contain_text('"2026-10-26"')
    press(cell(0), "ArrowRight", "before retry")


def test_04_the_match_and_its_groups(cell):
    for _ in range(3):
        cell(2).press("n")
    says(cell(2), "before select_strategy")
    expect(cell(2).locator(".quote")).to_contain_text("no flight to CDG")
    expect(cell(2).locator("table", has_text="group")).to_contain_text("CDG")


def test_05_back_moves_the_head_and_runs_nothing(page, cell):
    press(cell(1), "r", r"run ended\.$")
    before, ran = steps(cell(1)).count(), count(page)
    press(cell(1), "b", "earlier state, next")
    press(cell(1), "ArrowLeft", "earlier state, next")
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
    expect(node).to_contain_text("stop")
    press(cell(8), "r", "before repair")
    press(cell(8), ".", "before repair")
    expect(node).not_to_contain_text("stop")


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("args", "{", "must be a JSON object"),
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
    says(cell(8), "next execute")
    cell(8).press("e")
    field = cell(8).locator("[name=args]")
    field.fill('{"to": "LHR", "day": "2026-10-27", "seats": 3}')
    field.press("Control+Enter")
    expect(cell(8).locator(".steps .edit")).to_have_count(1)
    press(cell(8), "r", r"run ended\.$")
    expect(cell(8)).to_contain_text("3 to LHR on 2026-10-27")


def test_10_a_run_to_the_end(cell):
    press(cell(9), "r", r"run ended\.$")
    for node, visits in {"plan": 1, "execute": 2, "repair": 1, "retry": 1}.items():
        expect(cell(9).locator(f'[data-node="{node}"]')).to_contain_text(f"×{visits}")
    expect(cell(9).locator('[data-node="report_failure"]')).not_to_contain_text("×")
    expect(cell(9).get_by_role("button", name="Step", exact=True)).to_be_disabled()


def test_11_the_timeline_moves_the_head(cell):
    steps(cell(9)).nth(3).get_by_role("button").click()
    says(cell(9), "next select_strategy")
    button = steps(cell(9)).nth(5).get_by_role("button")
    button.focus()
    button.press("Enter")
    says(cell(9), "next validate")


only_lab = pytest.mark.parametrize("page", ["lab"], indirect=True)


@only_lab
def test_12_a_slow_node_is_paused_and_another_cell_answers(page, cell):
    press(cell(5), "r", "node is running")
    press(cell(0), "b", "earlier state, next")
    press(cell(5), "p", "node is running")
    # The kernel is free: another cell opens what the node waits for.
    field = page.locator(".jp-CodeCell").last.locator(".cm-content")
    field.fill("cells.gate.set(), 1")
    field.press("Control+Enter")
    says(cell(5), "before second")
    field.fill(COUNT)


@only_lab
def test_13_a_step_tries_a_node_again_that_raised(cell):
    press(cell(6), "n", "raised an error")
    expect(cell(6).locator("p.error")).to_contain_text("RuntimeError('the node broke')")
    press(cell(6), "n", "before second")


@only_lab
def test_14_a_question_waits_and_its_answer_goes_on(cell):
    press(cell(4), "r", "A person is asked")
    cell(4).press("a")
    field = cell(4).locator("[name=answer]")
    field.fill("2026-04-03")
    field.press("Control+Enter")
    says(cell(4), "Step runs it")
    press(cell(4), "r", r"run ended\.$")
    expect(cell(4)).to_contain_text("to CDG on 2026-04-03")


@only_lab
def test_15_a_run_that_failed_shows_its_report(cell):
    press(cell(3), "r", "ended with a report")
    for number in (1, 2, 3):
        attempt = cell(3).get_by_role("row", name=f"attempt {number}")
        expect(attempt).to_contain_text("connection refused")


@only_lab
def test_17_everything_has_a_name_and_the_keyboard_reaches_it(page, cell):
    for role in ("button", "textbox"):
        for each in cell(4).get_by_role(role).all():
            assert each.evaluate("e => e.ariaLabel || e.textContent || e.labels?.[0]?.textContent")
    cell(4).focus()
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.textContent.slice(0, 20)"))
    assert {"Run", "Back", "Restart", "Edit", "Export", "Help"} <= reached


@only_lab
def test_22_two_cells_do_not_mix(cell):
    expect(cell(7).locator(".status")).to_contain_text("Nothing has run yet")


@only_lab
def test_23_hostile_texts_are_shown_as_text_and_cut(page, cell):
    press(cell(7), "r", "The run ended|A person is asked")
    cell(7).get_by_text("State", exact=True).click()
    expect(cell(7)).to_contain_text("<script>window.pwn = 1</script>")
    assert page.evaluate("window.pwn") is None
    longest = max(map(len, cell(7).locator("td").all_inner_texts()))
    assert longest <= 2_000


@only_lab
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_16_texts_have_contrast(page, cell, scheme):
    page.evaluate(f"document.body.dataset.jpThemeLight = '{scheme == 'light'}'".lower())
    for number in (0, 3, 4, 6, 9):
        assert cell(number).evaluate(CONTRAST) == []


@only_lab
def test_18_the_notebook_opens_again_with_and_without_its_kernel(page, cell):
    page.keyboard.press("Control+s")
    page.wait_for_timeout(1_000)
    page.reload()
    expect(page.locator(".selfcorrect").first).to_be_visible(timeout=30_000)
    copies = page.locator("[class^=selfcorrect-copy]")
    assert not any(each.is_visible() for each in copies.all())
    page.evaluate(
        "fetch('/api/kernels').then((r) => r.json()).then((all) => Promise.all(all.map((one) => "
        "fetch('/api/kernels/' + one.id, {method: 'DELETE', headers: {'X-XSRFToken': "
        "document.cookie.replace(/.*_xsrf=([^;]*).*/, '$1')}}))))"
    )
    page.reload()
    expect(copies.first).to_be_visible(timeout=30_000)
    page.faults.clear()  # the application misses its kernel
    assert copies.first.locator("img").count() == 1


def test_19_an_export_holds_picture_and_tables(tmp_path):
    lab.write(tmp_path / "a.ipynb", "import cells", "cells.mended().run()")
    command = [sys.executable, "-m", "nbconvert", "--execute", "--to", "html", "a.ipynb"]
    subprocess.run(command, cwd=tmp_path, env=lab.ENVIRONMENT, check=True, capture_output=True)
    text = (tmp_path / "a.html").read_text("utf-8")
    assert "data:image/svg+xml;base64," in text
    assert "<td>seats</td>" in text


def test_20_a_page_is_stepped_from_a_file_and_shows_itself_without_scripts(browser, tmp_path):
    (tmp_path / "a.html").write_text(cells.mended().run().to_html(), "utf-8")
    for has_scripts in (True, False):
        page = browser.new_page(java_script_enabled=has_scripts)
        faults = lab.watch(page)
        page.goto(f"file://{tmp_path}/a.html")
        expect(page.locator(".picture")).to_contain_text("select_strategy")
        expect(page.locator(".end")).to_contain_text("seats")
        if has_scripts:
            page.keyboard.press("ArrowLeft")
            expect(page.locator(".status")).to_contain_text("An earlier state")
        page.close()
        assert faults == []
