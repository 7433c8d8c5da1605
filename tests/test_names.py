"""The public names: what is said to type checkers is what is loaded."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import selfcorrect
from selfcorrect import ledger, notebook, policies, testing

DOCUMENTED = (Path(__file__).parent / "documented_names.txt").read_text("utf-8").split()


@pytest.mark.parametrize("package", [selfcorrect, ledger, notebook, policies, testing])
def test_the_stub_has_every_name_from_the_module_that_holds_it(package):
    stub = Path(package.__file__).with_suffix(".pyi")
    found = {
        name.asname or name.name: node.module
        for node in ast.walk(ast.parse(stub.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    assert set(package.__all__) == set(found)
    for name, home in found.items():
        assert getattr(package, name) is getattr(import_module(home), name), name


def test_documented_names_are_there():
    for dotted in DOCUMENTED:
        module, _, name = dotted.rpartition(".")
        assert getattr(import_module(module), name) is not None, dotted


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'buildgraph'"):
        selfcorrect.buildgraph  # noqa: B018
