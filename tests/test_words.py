"""The words of the code: one word for one thing, and no participle as the name of a thing."""

import ast
import re
from pathlib import Path

import selfcorrect

PACKAGE = Path(selfcorrect.__file__).parent
GLOSSARY = PACKAGE.parent / "docs" / "glossary.md"
INSTEAD = {
    **dict.fromkeys(("slot", "slots", "hole", "spot"), "place"),
    **dict.fromkeys(("found", "made", "known"), "a noun: finding, names, call, value"),
    **dict.fromkeys(("said", "told", "heard"), "a noun: reply, text, ruling"),
    **dict.fromkeys(("settled", "barred", "lifted"), "a noun, or a verb in the imperative"),
    **dict.fromkeys(("strangers", "idle", "telling", "clues", "blame"), "the glossary's word"),
}
"""What a name may not say, and what it says in place of it."""
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
EXEMPT = {"NOT_FOUND", "not_found", "on_tool_found", "ToolNotFoundError", "ToolNotFoundPolicy"}
EXEMPT |= {"tool_not_found"}
"""Documented names."""


def rows():
    lines = GLOSSARY.read_text("utf-8").splitlines()
    return [line.split(" | ") for line in lines if line.startswith("| ")][2:]


def names_in(path):
    """Yield the names that a file gives: to functions, classes, parameters and variables."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                yield name, node.lineno
            case ast.arg(name) | ast.Name(name, ast.Store()) | ast.Attribute(_, name, ast.Store()):
                yield name, node.lineno


def test_the_glossary_has_25_words_in_order_and_each_stands_in_the_code():
    words = [row[0].removeprefix("| ") for row in rows()]
    assert len(words) == 25
    assert words == sorted(words)
    text = "\n".join(each.read_text("utf-8") for each in PACKAGE.rglob("*.py"))
    for row in rows():
        for name in re.findall(r"`([^`]+)`", row[2]):
            is_path = name.endswith((".py", "/"))
            assert (PACKAGE / name).exists() if is_path else re.search(rf"\b{name}\b", text), name


def test_names_say_what_a_thing_is():
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line}: {name}; say {INSTEAD[word.lower()]}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for name, line in names_in(path)
        if name not in EXEMPT
        for word in WORD.findall(name)
        if word.lower() in INSTEAD
    ]
    assert wrong == []
