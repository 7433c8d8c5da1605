"""What the documentation shows exists: its code, its pages, its notebooks, its table of peers."""

from __future__ import annotations

import ast
import doctest
import json
import re
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs" / "pages").rglob("*.md"))
NOTEBOOKS = sorted((ROOT / "notebooks").glob("0[1-4]_*.ipynb"))
FENCE = re.compile(r"^( *)```python\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"^::: ([\w.]+)$", re.MULTILINE)
AWAITS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST


def blocks() -> list[tuple[str, str]]:
    return [
        (f"{path.name}-{number}", dedent(found[2]))
        for path in PAGES
        for number, found in enumerate(FENCE.finditer(path.read_text(encoding="utf-8")))
    ]


@pytest.mark.parametrize(("where", "code"), blocks(), ids=[where for where, _ in blocks()])
def test_every_block_is_python_and_imports_what_exists(where: str, code: str) -> None:
    tree = compile(code, where, "exec", flags=AWAITS)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("selfcorrect"):
            module = import_module(node.module or "")
            assert not [alias.name for alias in node.names if not hasattr(module, alias.name)]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_name_of_the_reference_exists(path: Path) -> None:
    for name in NAMED.findall(path.read_text(encoding="utf-8")):
        module, _, attribute = name.rpartition(".")
        try:
            found = import_module(name)
        except ModuleNotFoundError:
            found = getattr(import_module(module), attribute)
        assert (found.__doc__ or "").strip(), f"{name} says nothing of itself"


def test_the_pages_are_built_without_a_warning(site: Path) -> None:
    assert "build_graph" in (site / "reference" / "loop.html").read_text(encoding="utf-8")


def test_examples_of_docstrings_are_code_on_every_page(site: Path) -> None:
    for page in (site / "reference").glob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"<(p|blockquote)>\s*(<p>)?\s*&gt;&gt;", text), page.name
    assert 'class="gp">' in (site / "reference" / "loop.html").read_text(encoding="utf-8")


def test_the_pages_can_be_read_and_searched_without_a_network(site: Path) -> None:
    assert "build_graph" in (site / "search.json").read_text(encoding="utf-8")
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|link)[^>]+(?:src|href)=\"(https?://[^\"]+)", text)
        assert not [link for link in loaded if "canonical" not in link], page.name


def test_no_link_leads_nowhere_and_no_picture_is_missing(site: Path) -> None:
    pages = {page.resolve(): page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    for page, text in pages.items():
        if page.name == "404.html":
            continue
        for target in re.findall(r"(?:href|src)=\"([^\"]+)\"", text):
            path, _, anchor = unquote(target).partition("#")
            if "://" in path or path.startswith(("data:", "mailto:")):
                continue
            file = (page.parent / path).resolve() if path else page
            assert file.exists(), f"{page.name}: {target}"
            if anchor and file in pages:
                assert f'id="{anchor}"' in pages[file], f"{page.name}: {target}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_stored_with_their_outputs(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    outputs = [output for cell in code for output in cell["outputs"]]
    assert all(cell["execution_count"] for cell in code)
    assert not [output for output in outputs if output["output_type"] == "error"]
    text = "".join("".join(cell["source"]) for cell in cells)
    assert text.index("## The failure") < text.index("## Mended")
    assert "assert " in "".join(code[-1]["source"]) + "".join(code[-2]["source"])
    for machine in ("/home/", "/root/", "site-packages"):
        assert machine not in json.dumps(outputs)


@pytest.mark.parametrize(
    "path", [path for path in PAGES if "```pycon" in path.read_text("utf-8")], ids=lambda p: p.stem
)
def test_what_a_page_shows_at_the_prompt_happens(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where a page makes a file, it is made
    done = doctest.testfile(str(path), module_relative=False, encoding="utf-8")
    assert done.attempted > 3
    assert done.failed == 0


def test_the_first_hour_is_eight_files_and_two_thousand_lines() -> None:
    page = (ROOT / "docs" / "pages" / "first-hour.md").read_text(encoding="utf-8")
    files = re.findall(r"^\| `([\w/]+\.py)` \|", page, re.MULTILINE)
    lines = [len((ROOT / "selfcorrect" / file).read_text("utf-8").splitlines()) for file in files]
    assert 5 <= len(files) <= 8
    assert sum(lines) <= 2_000


def test_the_page_of_the_kernel_names_every_file() -> None:
    page = (ROOT / "docs" / "pages" / "kernel.md").read_text(encoding="utf-8")
    files = {path.name for path in (ROOT / "selfcorrect" / "kernel").glob("*.py")}
    assert set(re.findall(r"^\| `(\w+\.py)` \|", page, re.MULTILINE)) == files - {"__init__.py"}


def test_there_are_notebooks_to_look_at() -> None:
    assert len(NOTEBOOKS) == 4


def test_the_table_of_costs_is_the_one_that_is_searched_with() -> None:
    from selfcorrect.mending.cost import COSTS

    page = (ROOT / "docs" / "pages" / "mending.md").read_text(encoding="utf-8")
    rows = [f"| `{name}` | {price.cost:g} | {price.says} |" for name, price in COSTS.items()]
    assert "\n".join(["| edit | costs | what it is |", "|---|---|---|", *rows]) in page


BATCH = (ROOT / "docs" / "pages" / "batch.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(\w+)` \| (.*) \|$", re.MULTILINE)


def test_the_lines_of_the_batch_command_are_told_in_one_way() -> None:
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from selfcorrect.batch.recorded_calls import SHOWN
    from selfcorrect.cli import app, repair

    assert repair.ANSWERED["changes"].endswith(", ".join(SHOWN))
    given, answered = BATCH.split("A line of `OUT`")
    assert dict(ROW.findall(given)) == repair.GIVEN
    assert dict(ROW.findall(answered)) == repair.ANSWERED
    shown = CliRunner().invoke(app, ["repair", "--help"]).output
    for key, what in (*repair.GIVEN.items(), *repair.ANSWERED.items()):
        assert f"  {key:<14} {what}\n" in shown


def test_the_lines_of_the_batch_command_are_those_that_it_reads_and_writes() -> None:
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from selfcorrect.cli import app, repair

    lines, answers = re.findall(r"^```json\n(.*?)^```", BATCH, re.MULTILINE | re.DOTALL)
    done = CliRunner().invoke(app, ["repair", "--jsonl", "-", "--out", "-"], input=lines)
    assert (done.exit_code, done.stdout) == (1, answers)
    asking = {"tools": json.loads(lines.splitlines()[0])["tools"], "call": {"name": "search"}}
    asking["tools"][0]["parameters"]["required"] = ["query"]
    asked = CliRunner().invoke(
        app, ["repair", "--jsonl", "-", "--out", "-"], input=json.dumps(asking)
    )
    several = {**asking, "call": [{"name": "search", "arguments": {"query": "x"}}, asking["call"]]}
    both = CliRunner().invoke(
        app, ["repair", "--jsonl", "-", "--out", "-"], input=json.dumps(several)
    )
    answers = (done.stdout + asked.stdout + both.stdout).splitlines()
    written = [json.loads(line) for line in answers]
    assert {key for answer in written for key in answer} == set(repair.ANSWERED)


def test_the_python_of_the_page_on_recorded_calls_gives_what_it_says() -> None:
    names: dict[str, object] = {}
    shown: list[tuple[str, str]] = []
    for block in re.findall(r"^```python\n(.*?)^```", BATCH, re.MULTILINE | re.DOTALL):
        exec(block, names)
        shown += [
            (repr(eval(line.partition("  # ")[0], names)), line.partition("  # ")[2])
            for line in block.splitlines()
            if "  # " in line
        ]
    assert len(shown) == 8
    assert all(got == told for got, told in shown), shown


def test_every_public_name_has_a_page(site: Path) -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in site.rglob("*.html"))
    shown = set(re.findall(r'id="(selfcorrect[\w.]*)"', text))
    last = {name.rpartition(".")[2] for name in shown}
    for package in ("selfcorrect", "selfcorrect.testing", "selfcorrect.notebook"):
        names = import_module(package).__all__
        missing = [name for name in names if f"{package}.{name}" not in shown and name not in last]
        assert not missing, package


def test_every_key_of_a_map_has_a_page(site: Path) -> None:
    from selfcorrect.mapping import document
    from selfcorrect.mapping.rules import MapModel

    shown = (site / "maps.html").read_text(encoding="utf-8")
    models = [
        model
        for model in vars(document).values()
        if isinstance(model, type) and issubclass(model, MapModel) and model is not MapModel
    ]
    assert len(models) >= 6
    for model in models:
        for key in model.model_fields:
            assert f'id="{model.__module__}.{model.__name__}.{key}"' in shown, (model, key)
    for key in set(document.Limits.model_fields) - {"ceiling"}:
        assert f".Limits.{key}" in shown or f"<code>{key}</code>" in shown, key
