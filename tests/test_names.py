"""The public names: what is said to type checkers is what is loaded."""

import ast
import subprocess
import sys
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


@pytest.mark.parametrize(
    ("library", "extra", "use"),
    [
        ("langchain", "agent", "from selfcorrect import SelfCorrection"),
        (
            "opentelemetry",
            "otel",
            "import selfcorrect.integrations.otel as otel; otel.instrumented()",
        ),
        ("psycopg", "postgres", "selfcorrect.ledger.PostgresLedger('postgresql://localhost/a')"),
        (
            "anywidget",
            "jupyter",
            (
                "import IPython.display\n"
                "IPython.display.display = lambda copy: print(copy.data, file=sys.stderr)\n"
                "from selfcorrect.notebook import Stepper\n"
                "graph = selfcorrect.build_graph([])\n"
                "Stepper(graph, {})._ipython_display_()\n"
                "sys.exit(1)"
            ),
        ),
    ],
)
def test_a_missing_library_is_reported_with_the_command_that_installs_it(library, extra, use):
    start = f"import sys; sys.modules[{library!r}] = None\n"
    program = f"{start}import selfcorrect, selfcorrect.ledger\n{use}"
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert f"pip install 'selfcorrect[{extra}]'" in ended.stderr.replace("&#x27;", "'")


def test_what_handlers_get_and_raise_stands_in_one_module():
    from selfcorrect import handlers

    for name in ("InvalidArgs", "DeserializationError", "ExecutionError", "EscalationError"):
        assert getattr(handlers, name) is getattr(selfcorrect, name)
