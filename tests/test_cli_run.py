"""`selfcorrect run` and `selfcorrect graph`, as a person and as a script use them."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from selfcorrect.cli import app
from selfcorrect.cli.commands import EXAMPLES

ROOT = Path(__file__).parents[1]

GRAPH = '''
from typing import Literal

from selfcorrect import ToolSpec, build_graph

calls = []


def order(item: str, count: int, size: Literal["small", "large"] = "small") -> str:
    """Order something."""
    calls.append(item)
    if item == "lava":
        raise LookupError("\\x1b[2J[red]no lava\\u202e today")
    if item == "exit":
        raise SystemExit(3)
    if item == "surrogate":
        return "\\ud800[bold]"
    return f"{count} {size} {item}"


async def later(item: str) -> str:
    """Order something, in time."""
    return item


def examples():
    good = {"name": "order", "args": {"item": "tea", "count": 1}}
    bad = {"name": "order", "args": {"item": "tea", "count": "2", "size": " Large"}}
    none = {"name": "fly", "args": {}}
    return [
        {"title": "fine", "input": {"call": good}, "expect": "healthy"},
        {"title": "text for a number", "input": {"call": bad}, "expect": "mended"},
        {"title": "no such tool", "input": {"call": none}, "expect": "reported"},
    ]


TOOLS = [ToolSpec.from_function(order, effect="mutating"), later]
graph = build_graph(TOOLS)
not_a_graph = 3


def make_graph(strategies=None, model=None, checkpointer=None):
    return build_graph(TOOLS, strategies=strategies, model=model, checkpointer=checkpointer)
'''


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "shop.py").write_text(GRAPH, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def cli(*args, stdin=None):
    return CliRunner().invoke(app, [str(arg) for arg in args], input=stdin)


def call(**args) -> str:
    return json.dumps({"name": "order", "args": args})


def line(**args) -> str:
    return json.dumps({"call": {"name": "order", "args": args}}) + "\n"


def test_the_examples_of_a_file_are_played_and_summed_up(here):
    done = cli("run", "shop.py")
    assert done.exit_code == 0, done.output
    assert "■ fine  healthy" in done.stdout
    assert "■ text for a number  mended" in done.stdout
    assert 'mended    /args/count  "2" → 2  convert-type, exact' in done.stdout
    assert 'result    "2 large tea"' in done.stdout
    assert "■ no such tool  reported" in done.stdout
    assert done.stdout.splitlines()[-1] == (
        "3 calls: 1 healthy, 1 mended, 1 reported · 2 executions, 0 model calls"
    )


def test_one_call_can_be_given_on_the_command_line(here):
    done = cli("run", "shop.py:graph", "--call", call(item="tea", count="2"))
    assert done.exit_code == 0, done.output
    assert 'result    "2 small tea"' in done.stdout


@pytest.mark.parametrize(
    "text",
    [
        '{"tool": "order", "parameters": {"item": "tea", "count": 2}}',
        '{"call": {"name": "order", "arguments": "{\\"item\\": \\"tea\\", \\"count\\": 2}"}}',
        '{"raw": "{\\"name\\": \\"order\\", \\"args\\": {\\"item\\": \\"tea\\", \\"count\\": 2}}"}',
    ],
)
def test_a_call_may_use_any_known_key_or_be_a_whole_input(here, text):
    done = cli("run", "shop.py", "--json", "--call", text)
    assert json.loads(done.stdout)["result"] == "2 small tea", done.output


def test_json_is_one_object_per_input_and_nothing_else_on_stdout(here):
    (here / "in.jsonl").write_text(line(item="tea", count=1) + line(item="tea", count="x"))
    done = cli("run", "shop.py", "--jsonl", "in.jsonl", "--json")
    assert done.exit_code == 1
    first, second = (json.loads(each) for each in done.stdout.splitlines())
    assert first["result"] == "1 small tea"
    assert second["failure"]["reason"]
    assert [event["node"] for event in first["trail"]] == ["plan", "execute"]
    assert "2 calls" in done.stderr


def test_a_bad_line_is_an_entry_of_its_own_and_stops_no_other(here):
    bad = '{"call": \n"text"\n\n{"call": {"name": "order", "args": {"item": 1, "item": 2}}}\n'
    (here / "in.jsonl").write_text(line(item="tea", count=1) + bad + line(item="tea", count=3))
    done = cli("run", "shop.py", "--jsonl", "in.jsonl", "--json")
    assert done.exit_code == 1
    outputs = [json.loads(each) for each in done.stdout.splitlines()]
    assert [each.get("result") for each in outputs] == [
        "1 small tea",
        None,
        None,
        None,
        "3 small tea",
    ]
    assert [each["error"].partition(": ")[0] for each in outputs[1:4]] == [
        "in.jsonl:2",
        "in.jsonl:3",
        "in.jsonl:5",
    ]


def test_calls_come_from_stdin(here):
    done = cli("run", "shop.py", "--jsonl", "-", "--json", stdin=line(item="Tee für zwei", count=2))
    assert done.exit_code == 0
    assert '"2 small Tee für zwei"' in done.stdout


def test_nothing_to_do_is_done(here):
    done = cli("run", "shop.py", "--jsonl", "-", stdin="\n\n")
    assert done.exit_code == 0
    assert "0 calls: nothing to do" in done.stdout


@pytest.mark.parametrize("mode", [[], ["--json"]])
@pytest.mark.parametrize(
    ("item", "shown"),
    [
        ("lava", "[red]no lava"),
        ("surrogate", "\\\\ud800[bold]"),
        ("\x1b]0;title\x07", "\\u001b]0;title\\u0007"),
        ("[link=http://x]tea", "[link=http://x]tea"),
    ],
)
def test_what_a_tool_says_is_text_and_never_obeyed(here, mode, item, shown):
    done = cli("run", "shop.py", *mode, "--call", call(item=item, count=1))
    assert done.exit_code in (0, 1)
    assert not {"\x1b", "\x07", "\u202e", "\ud800"} & set(done.stdout)
    assert shown in done.stdout


def test_a_tool_that_exits_does_not_end_the_command(here):
    stdin = (line(item="exit", count=1) + line(item="tea", count=1)) * 2
    done = cli("run", "shop.py", "--jsonl", "-", "--json", stdin=stdin)
    assert done.exit_code == 1
    outputs = [json.loads(each) for each in done.stdout.splitlines()]
    assert [each.get("error") for each in outputs] == ["SystemExit: 3", None] * 2
    assert [each.get("result") for each in outputs] == [None, "1 small tea"] * 2
    assert "Traceback" not in done.stderr


def test_async_tools_run(here):
    text = '{"name": "later", "args": {"item": "tea"}}'
    done = cli("run", "shop.py", "--json", "--call", text)
    assert json.loads(done.stdout)["result"] == "tea", done.output


@pytest.mark.parametrize(
    ("answers", "result"),
    [
        ("2\n", "2 small tea"),
        ("\nmany\n3\n", "3 small tea"),
        ('{"action": "edit", "args": {"item": "milk", "count": 4}}\n', "4 small milk"),
    ],
)
def test_a_person_is_asked_and_the_answer_runs(here, answers, result):
    given = ("--json", "--interactive", "--call", call(item="tea"))
    done = cli("run", "shop.py", *given, stdin=answers)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["result"] == result
    assert 'argument "count" is missing' in done.stderr


@pytest.mark.parametrize("answers", ["reject\n", "null\n"])
def test_a_person_can_reject(here, answers):
    given = ("--json", "--interactive", "--call", call(item="tea"))
    done = cli("run", "shop.py", *given, stdin=answers)
    assert done.exit_code == 1
    assert json.loads(done.stdout)["failure"]["reason"] == "rejected"


def test_at_the_end_of_input_nobody_has_answered(here):
    given = ("--json", "--interactive", "--call", call(item="tea"))
    done = cli("run", "shop.py", *given, stdin="")
    assert done.exit_code == 1
    out = json.loads(done.stdout)
    assert out["failure"]["reason"] == "needs_person"
    assert out["failure"]["question"]["question"]
    assert out["failure"]["call"]["args"] == {"item": "tea"}
    assert [event["node"] for event in out["trail"]][:2] == ["plan", "execute"]


def test_an_example_that_ends_otherwise_is_no_success(here):
    other = (here / "shop.py").read_text(encoding="utf-8").replace('"healthy"', '"reported"')
    (here / "other.py").write_text(other, encoding="utf-8")
    done = cli("run", "other.py")
    assert done.exit_code == 1
    assert "  expected  reported" in done.stdout


def test_an_example_that_a_person_answered_ends_as_expected(here):
    """Who answers decides how it ends; without an answer it is asked, as it says."""
    file = here / "shop.py"
    file.write_text(file.read_text(encoding="utf-8").replace('"healthy"', '"asked"').replace(
        '"args": {"item": "tea", "count": 1}', '"args": {"item": "tea"}'
    ), encoding="utf-8")  # fmt: skip
    for answers in ("2\n" * 9, "reject\n" * 9):
        done = cli("run", "shop.py", "--interactive", stdin=answers)
        assert "expected  asked" not in done.stdout, done.stdout


def test_mended_calls_come_first_below_a_legend():
    heads = [line for line in cli("run").stdout.splitlines() if line.startswith("■ ")]
    assert heads[0].split("   ")[0] == "■ mended and done"
    ends = [head.rpartition("  ")[2] for head in heads[1:]]
    assert ends == sorted(ends, key=["mended", "asked", "reported"].index)


def test_the_demonstration_takes_the_map_of_the_environment(monkeypatch):
    usual = cli("run").stdout
    monkeypatch.setenv("SELFCORRECT_STRATEGIES", "strict")
    strict = cli("run")
    assert strict.exit_code == 1
    assert strict.stdout != usual
    monkeypatch.setenv("SELFCORRECT_STRATEGIES", "nosuch")
    refused = cli("run")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "there is no map named 'nosuch'" in refused.stderr


def test_what_is_too_long_goes_on_below_itself_on_a_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")  # a dumb one is always 80 wide
    from io import StringIO

    from rich.console import Console

    from selfcorrect.cli.screen import row, show

    out = StringIO()
    screen = Console(file=out, width=40, force_terminal=True)
    show(screen, row("wrong", "one two three four five six seven eight nine ten"))
    assert re.sub(r"\x1b\[[\d;]*m", "", out.getvalue()).splitlines() == [
        "  wrong     one two three four five six ",
        "            seven eight nine ten",
    ]


def test_an_option_is_chosen_by_its_number(here):
    given = ("--json", "--interactive", "--call", call(item="tea", count=1, size="huge"))
    done = cli("run", "shop.py", *given, stdin="#2\n")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["result"] == "1 large tea"
    assert '#1        "small"' in done.stderr


def test_without_a_person_the_question_is_reported_and_counted(here):
    done = cli("run", "shop.py", "--call", call(item="tea"))
    assert done.exit_code == 1
    assert "■ call  asked" in done.stdout
    assert 'question  Tool "order": argument "count" is missing.' in done.stdout


def test_events_are_logged_to_stderr_on_request(here):
    given = ("run", "shop.py", "--json", "--call", call(item="tea", count="2"))
    done = selfcorrect("--verbose", *given, cwd=here)
    assert "selfcorrect.repair" in done.stderr
    assert len(done.stdout.splitlines()) == 1


def test_every_run_is_recorded_with_its_input_and_trail(here):
    done = cli("run", "shop.py", "--record", "trail.jsonl")
    assert done.exit_code == 0
    runs = [json.loads(each) for each in (here / "trail.jsonl").read_text().splitlines()]
    assert [run["title"] for run in runs] == ["fine", "text for a number", "no such tool"]
    assert all(run["trail"] and run["input"]["call"]["name"] for run in runs)


def test_another_map_gives_another_answer(here):
    given = ("--json", "--call", call(item="tea", count="five"))
    relaxed, strict = (
        cli("run", "shop.py", *given),
        cli("run", "shop.py", *given, "--strategies", "strict"),
    )
    assert json.loads(relaxed.stdout)["result"] == "5 small tea"
    assert json.loads(strict.stdout)["failure"]["reason"]


def test_a_graph_that_cannot_be_built_anew_refuses_another_map(here):
    (here / "plain.py").write_text(GRAPH.replace("def make_graph", "def other"), encoding="utf-8")
    done = cli("run", "plain.py", "--strategies", "strict")
    assert done.exit_code == 2
    assert "--strategies needs a function make_graph" in done.stderr


def test_a_bad_map_never_starts(here):
    (here / "bad.toml").write_text('format = 1\n[[rule]]\nid = "x"\nreapir = ["clamp"]\n')
    done = cli("run", "shop.py", "--strategies", "./bad.toml")
    assert done.exit_code == 2
    assert "bad.toml" in done.stderr
    assert "reapir" in done.stderr


USAGE = {
    "no such file": (["nowhere.py"], "no file"),
    "no such name": (["nowhere"], "no graph named 'nowhere'; known: "),
    "no such object": (["shop.py:grpah"], "no 'grpah' in it; it has graph"),
    "not a graph": (["shop.py:not_a_graph"], "not a compiled graph"),
    "broken file": (["broken.py"], "broken.py:2: ZeroDivisionError"),
    "file that exits": (["exits.py"], "exits.py:1: SystemExit"),
    "no examples": (["silent.py"], "brings no examples"),
    "both inputs": (["--call", "{}", "--jsonl", "-"], "not both"),
    "call is no JSON": (["--call", "{'name'"], "--call: not JSON"),
    "no such input": (["--jsonl", "nowhere.jsonl"], "nowhere.jsonl: No such file"),
    "no such map": (["shop.py", "--strategies", "nowhere"], "nowhere"),
    "no such option": (["--colour"], "No such option"),
    "stdin twice": (["--interactive", "--jsonl", "-"], "--interactive reads answers from stdin"),
    "record nowhere": (["shop.py", "--record", "no/such/folder"], "No such file"),
}


@pytest.mark.parametrize(("args", "why"), USAGE.values(), ids=USAGE)
def test_wrong_usage_says_what_is_wrong_and_exits_with_2(here, args, why):
    (here / "broken.py").write_text("x = 1\ny = x / 0\n")
    (here / "exits.py").write_text("raise SystemExit(0)\n")
    (here / "silent.py").write_text("from shop import graph\n")
    done = cli("run", *args)
    assert done.exit_code == 2, done.output
    assert why in done.stderr
    assert "Traceback" not in done.output


def test_the_nearest_langgraph_json_names_the_graphs(here):
    (here / "langgraph.json").write_text('{"graphs": {"shop": "./shop.py:graph"}}')
    assert "text for a number" in cli("run", "shop").stdout
    assert cli("graph", "flight_booking").exit_code == 0
    (here / "langgraph.json").write_text("{")
    done = cli("run", "shop")
    assert done.exit_code == 2
    assert "not a usable langgraph.json" in done.stderr


@pytest.mark.parametrize("form", ["mermaid", "ascii"])
def test_a_graph_is_drawn_with_every_node(here, form):
    done = cli("graph", "shop.py", "--format", form)
    assert done.exit_code == 0, done.output
    for node in ("plan", "execute", "diagnose", "select_strategy", "repair", "validate", "retry"):
        assert node in done.stdout


def test_the_default_graph_is_the_flight_booking(here):
    assert "report_failure" in cli("graph").stdout


def selfcorrect(*args, **options):
    return subprocess.run(
        [sys.executable, "-m", "selfcorrect", *args],
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"},
        **options,
    )


def test_the_demonstration_mends_bookings(here):
    done = selfcorrect("run", cwd=here)
    assert done.returncode == 0, done.stderr
    assert "mended" in done.stdout.splitlines()[-1]
    assert done.stderr == ""


def test_live_progress_is_for_a_terminal_and_never_among_the_results(here):
    pty = pytest.importorskip("pty", reason="needs a pseudo-terminal, which this system lacks")
    (here / "in.jsonl").write_text(line(item="tea", count=1) * 50)
    master, terminal = pty.openpty()
    with (here / "out.jsonl").open("w") as out:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "selfcorrect",
                "run",
                "shop.py",
                "--jsonl",
                "in.jsonl",
                "--json",
            ],
            stdout=out,
            stderr=terminal,
            check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"},
        )
    os.close(terminal)
    seen = os.read(master, 100_000).decode()
    os.close(master)
    assert done.returncode == 0, seen
    outputs = [json.loads(each) for each in (here / "out.jsonl").read_text().splitlines()]
    assert [each["result"] for each in outputs] == ["1 small tea"] * 50
    assert "calls: " in seen
    assert "50 healthy" in seen


def test_the_version_is_printed():
    done = selfcorrect("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("selfcorrect 0")


def test_without_the_extra_the_command_says_how_to_install_it(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Gone:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name in ('typer', 'rich'):\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Gone())\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "selfcorrect", "run"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 2
    assert done.stderr == (
        "the command line needs an optional part: pip install 'selfcorrect[cli]'\n"
    )


LOSING = '''
import os
from selfcorrect import ToolSpec, build_graph
from selfcorrect.ledger import SqliteLedger


def pay(to: str, amount: float) -> str:
    """Pay."""
    with open("paid", "a") as file:
        file.write(f"{to} {amount}\\n")
    if not os.path.exists("works"):
        raise TimeoutError("no answer")
    return "paid"


tool = ToolSpec.from_function(pay, effect="mutating")
graph = build_graph([tool], ledger=SqliteLedger("ledger.db"))
'''


def paying(call_id: str) -> str:
    made = {"name": "pay", "args": {"to": "ann", "amount": 5}, "id": call_id}
    return json.dumps({"call": made, "task_id": "job"})


def test_what_may_have_been_done_is_done_once_more_only_with_again(here):
    (here / "losing.py").write_text(LOSING, encoding="utf-8")
    for call_id in ("c1", "c1", "c2"):
        done = cli("run", "losing.py", "--json", "--call", paying(call_id))
        assert done.exit_code == 1, done.output
        assert json.loads(done.stdout)["failure"]["reason"] == "unknown_outcome"
        (here / "works").touch()
    assert (here / "paid").read_text() == "ann 5\n"
    for options in (["--again"], []):
        done = cli("run", "losing.py", "--json", *options, "--call", paying("c2"))
        assert json.loads(done.stdout).get("result") == "paid", done.output
    assert (here / "paid").read_text() == "ann 5\n" * 2
    told = cli("run", "losing.py", "--call", paying("c2")).stdout
    assert "  known     done before; the stored result, and no execution" in told
    assert "attempt" not in told
    assert told.splitlines()[-1].endswith("0 executions, 0 model calls")


def test_a_doubt_is_told_with_the_option_that_overrules_it(here):
    (here / "losing.py").write_text(LOSING, encoding="utf-8")
    told = cli("run", "losing.py", "--call", paying("c1")).stdout
    assert "run it with --again" in told


def test_the_maps_and_strategies_that_there_are_can_be_listed():
    maps, strategies = cli("maps").stdout, cli("strategies").stdout
    assert "  default  " in maps
    assert "  travel               for a deployment  The map of a travel agency" in maps
    assert "  convert-type         exact, inferred  Writes a value in the type" in strategies
    assert "  ask-human            asks a person  " in strategies


def test_a_strategy_is_told_with_its_options():
    told = cli("strategies", "rename-argument")
    assert told.exit_code == 0
    assert "option    synonyms {}" in told.stdout
    unknown = cli("strategies", "rename-argment")
    assert unknown.exit_code == 2
    assert "did you mean 'rename-argument'" in unknown.stderr


COMMANDS = tuple(EXAMPLES)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_short_for_help_and_shows_an_example(command):
    short = cli(command, "-h")
    assert short.exit_code == 0
    assert short.stdout == cli(command, "--help").stdout
    assert "Example" in short.stdout


def test_the_help_lists_every_command_with_what_it_does():
    rows = cli("--help").stdout.partition("Commands:")[2].strip().splitlines()
    assert [row.split()[0] for row in rows] == list(COMMANDS)
    assert all(len(row.split()) > 3 for row in rows)


def test_a_command_that_is_none_is_told_with_its_neighbour():
    done = cli("proxi")
    assert done.exit_code == 2
    assert "proxy" in done.stderr


HELPERS = {"commands", "options", "screen"}
LOADED = """
import sys
from selfcorrect.__main__ import main
sys.argv = ["selfcorrect", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
print(*sorted(name for name in sys.modules if name.startswith("selfcorrect.")), sep="\\n")
"""


@pytest.mark.parametrize(
    ("args", "commands"),
    [(("--version",), set()), (("proxy", "--help"), {"proxy"}), (("maps", "--help"), {"listing"})],
)
def test_only_the_command_that_is_called_is_loaded(args, commands):
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *args], capture_output=True, text=True, cwd=ROOT, check=True
    )
    names = [name.split(".")[1:] for name in done.stdout.split() if name.startswith("selfcorrect.")]
    assert {name[1] for name in names if name[0] == "cli" and name[1:]} - HELPERS == commands
    if "listing" not in commands:
        assert not [name for name in names if name[0] in ("loop", "mapping", "evidence")]


def test_why_the_last_answer_was_not_used_is_shown(monkeypatch, capsys):
    from selfcorrect.cli import person
    from selfcorrect.notebook.view_model import question_of

    asked = {"question": "Which?", "options": ["a", "b"], "problem": "there is no such action"}
    monkeypatch.setattr("sys.stdin", io.StringIO("#2\n"))
    assert person.ask(asked) == {"action": "choose", "choice": 1}
    assert "the last answer: there is no such action" in capsys.readouterr().err
    shown = question_of([("id", asked)])
    assert shown is not None
    assert shown["text"] == "The last answer was not used: there is no such action. Which?"
