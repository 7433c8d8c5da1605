"""The integrations of other frameworks are small; tests/integrations runs each against its own."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

HOME = Path(__file__).parents[1] / "selfcorrect" / "integrations"
FRAMEWORKS = (
    *("agent_framework", "google_adk", "litellm", "openai_agents", "pydantic_ai", "smolagents"),
)


DOCUMENTED = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def lines_of(node: ast.AST) -> set[int]:
    return set(range(node.lineno, node.end_lineno + 1))


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_an_integration_is_a_page_over_mender(name):
    text = (HOME / f"{name}.py").read_text(encoding="utf-8")
    nodes = list(ast.walk(ast.parse(text)))
    aside = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    named = [node for node in nodes if isinstance(node, DOCUMENTED) and ast.get_docstring(node)]
    aside += [node.body[0] for node in named]
    code = {n for n, line in enumerate(text.splitlines(), 1) if line.strip()}
    assert len(code - {1} - {n for node in aside for n in lines_of(node)}) <= 40
