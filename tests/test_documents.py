"""What the documents say holds: code runs, maps load, links lead somewhere, commands parse."""

import re
import runpy
import shlex
from pathlib import Path
from shutil import copy

import pytest
from kit import main

from selfcorrect import StrategyMap

ROOT = Path(__file__).parent.parent
OWN = ROOT / "strategies" / "README.md"
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    OWN,
]
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


def blocks(language):
    """Return the blocks of a language, as parameters named after page and line."""
    return [
        pytest.param(page, found[3], id=f"{page.relative_to(ROOT)}:{line_of(text, found)}")
        for page in PAGES
        # `test_contributing.py` follows the recipes.
        for text in [page.read_text("utf-8").partition("\n## Ten recipes\n")[0]]
        for found in BLOCK.finditer(text)
        if found[2] == language
    ]


def line_of(text, found):
    return text.count("\n", 0, found.start()) + 1


@pytest.mark.parametrize(("page", "code"), blocks("python"))
def test_every_block_of_python_is_run(page, code):
    assert page == OWN or ">>> " in code


@pytest.mark.parametrize(("page", "text"), blocks("toml"))
def test_every_block_of_toml_is_a_map(page, text, tmp_path, monkeypatch):
    # A map may name a file that is made in the working directory.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "map.toml").write_text(text, "utf-8")
    for name, body in files_of_own_page().items():
        (tmp_path / name).write_text(body, "utf-8")
    for file in (ROOT / "strategies").glob("*.py"):
        copy(file, tmp_path)
    assert StrategyMap.load(tmp_path / "map.toml").name == "map"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page):
    text = BLOCK.sub("", page.read_text("utf-8"))
    targets = [each for each in LINK.findall(text) if "://" not in each]
    assert [each for each in targets if not leads_somewhere(each, page)] == []


def leads_somewhere(target, page):
    path, _, anchor = target.partition("#")
    place = (page.parent / path).resolve() if path else page
    return place.exists() and (not anchor or anchor in anchors(place))


def anchors(page):
    """Return the anchors that GitHub gives the headings of a page."""
    heads = re.findall(r"^#+ (.*)$", BLOCK.sub("", page.read_text("utf-8")), re.MULTILINE)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", head).lower() for head in heads)
    return {re.sub(r"[^\w\- ]", "", head).strip().replace(" ", "-") for head in plain}


def commands():
    """Return the arguments of every `selfcorrect` command of the pages."""
    pages = [block.values for block in blocks("sh")]
    found = [(page, words) for page, text in pages for words in split_commands(text)]
    return [
        pytest.param(words[1:], id=f"{page.name}: {' '.join(words)[:60]}")
        for page, words in found
        if words[0] == "selfcorrect"
    ]


def split_commands(text):
    """Return the words of each command of a shell, up to a pipe or the end of a line."""
    plain = re.sub(r"(?m)(^|\s)# .*$", "", text.replace("\\\n", " "))
    lexer = shlex.shlex(plain, posix=True, punctuation_chars=";&|<>\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t", True, ""
    lines = [[]]
    for word in lexer:
        if set(word) <= set(";&|<>\n"):
            lines.append([])
        else:
            lines[-1].append(word)
    return [words for words in lines if words]


@pytest.mark.parametrize("arguments", commands())
def test_every_command_is_one(arguments, monkeypatch, capsys):
    """The command itself does nothing here: its arguments are read."""
    read = []
    monkeypatch.setattr("selfcorrect.cli.main.import_module", lambda _: Does(read))
    assert main(arguments) == 0
    assert read


class Does:
    """Stands for the module of a command."""

    def __init__(self, read):
        self._read = read

    def __getattr__(self, name):
        def take(options):
            self._read.append(options)
            return 0

        return take


def test_the_reference_of_keys_is_what_the_script_writes():
    script = runpy.run_path(str(ROOT / "docs" / "map_keys.py"))
    assert script["PAGE"].read_text("utf-8") == script["write_page"]()


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_a_page_is_short_and_begins_with_an_example(page):
    text = page.read_text("utf-8")
    columns = [
        line.replace("\\|", "").count("|") - 1 for line in text.splitlines() if line[:1] == "|"
    ]
    assert len(text.splitlines()) <= 180
    assert 0 < text.find("\n```") < text.find("\n## ")
    assert max(columns, default=0) <= 5


def files_of_own_page():
    """Return the files that the page about maps tells to make, by name."""
    text = OWN.read_text("utf-8")
    names = re.findall(r"^\*\*\d\. [^`]*\*\*, `([\w.]+)`", text, re.MULTILINE)
    bodies = [found[3] for found in BLOCK.finditer(text) if found[2] in ("python", "toml")]
    return dict(zip(names, bodies, strict=True))


def test_a_map_of_your_own_works_as_its_page_says(tmp_path, monkeypatch, capsys):
    for name, body in files_of_own_page().items():
        (tmp_path / name).write_text(body, "utf-8")
    monkeypatch.chdir(tmp_path)
    told = []
    for block in blocks("sh"):
        page, text = block.values
        for words in split_commands(text) if page == OWN else ():
            assert main(words[1:]) == 0
            told.append(capsys.readouterr().out)
    checked, explained, ran = told
    assert checked == "ok\n"
    assert "ledger/unknown-cost-centre" in explained
    assert 'cost_centre  "cc 42" → "CC-0042"' in ran
    assert "booked 1 on CC-0042" in ran


@pytest.mark.parametrize("name", ["my_graph.py", "ledger_repairs.py"])
def test_a_page_imports_documented_names_only(name):
    documented = (ROOT / "tests" / "documented_names.txt").read_text("utf-8").split()
    code = files_of_own_page()[name]
    lines = re.findall(r"^from (selfcorrect\S*) import (.*)$", code, re.MULTILINE)
    used = [f"{module}.{each}" for module, names in lines for each in names.split(", ")]
    assert used
    assert set(used) <= set(documented)
