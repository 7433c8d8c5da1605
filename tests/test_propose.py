"""`propose` asks a model for rules, shows it no value, and writes what no check refuses."""

import json
import tomllib

import pytest
from hypothesis import given, settings, strategies as st
from kit import main, table

from selfcorrect import StrategyMap
from selfcorrect.testing import play

BRAKE = "the brake must be pressed before driving to {}"
RULE = {
    "id": "brake",
    "match": "brake must be pressed",
    "kind": "conflict",
    "category": "precondition",
    "repair": ["ask-human"],
    "example": "the brake must be pressed first",
}
MODEL = """
from selfcorrect.testing import ScriptedModel

def say(messages):
    with open("asked.txt", "a", encoding="utf-8", errors="replace") as file:
        file.write("".join(each.text for each in messages) + "=====")
    item = answers.pop(0)
    if item == "raise":
        raise ValueError("no model here")
    if item == "break":
        raise ConnectionError("broken")
    return item

answers = {answers!r}
model = ScriptedModel([say], again=True)
"""


def drive(place, **more):
    return {"tool": "drive", "arguments": {"to": place}, "error": BRAKE.format(place), **more}


def proposing(folder, monkeypatch, answers, lines=None, *options):
    """Run the command; return its exit code, what the model read, and the map's rules."""
    monkeypatch.chdir(folder)
    lines = [drive("Rome"), drive("Oslo")] if lines is None else lines
    texts = [each if isinstance(each, str) else json.dumps(each) for each in lines]
    (folder / "errors.jsonl").write_text("\n".join(texts), "utf-8")
    (folder / "model.py").write_text(MODEL.format(answers=answers), "utf-8")
    code = main(["propose", "errors.jsonl", "--model", "model.py:model", *options])
    asked, made = folder / "asked.txt", folder / "proposed.toml"
    prompts = asked.read_text("utf-8").split("=====")[:-1] if asked.exists() else []
    rules = tomllib.loads(made.read_text("utf-8"))["rule"] if made.exists() else []
    return code, prompts, rules


def test_what_passes_is_written_and_used_only_where_it_is_named(tmp_path, monkeypatch, capsys):
    code, prompts, rules = proposing(tmp_path, monkeypatch, [{"rule": RULE}])
    assert (code, len(prompts)) == (0, 1)
    assert rules == [{**RULE, "tool": ["drive"]}]
    text = (tmp_path / "proposed.toml").read_text("utf-8")
    assert '# Proposed by "model.py:model" from 2 errors.' in text
    assert main(["check", "./proposed.toml"]) == 0
    capsys.readouterr()

    def drive_to(to: str) -> str:
        """Drive."""
        raise ValueError(BRAKE.format(to))

    def decides(**options):
        given = {"call": {"name": "drive_to", "args": {"to": "Bern"}}}
        out = play([drive_to], given, **options)
        return out["failure"]["findings"][0]["rule"]

    own = StrategyMap([{**RULE, "tool": "drive_to"}], name="proposed", extends=["default"])
    assert decides(strategies=own) == "proposed/brake"
    assert decides(strategies="./proposed.toml") != "proposed/brake"


def test_the_model_reads_what_an_answer_is_and_no_value(tmp_path, monkeypatch):
    lines = [drive("Rome", schema={"properties": {"to": {}, "speed": {}}})]
    _, (prompt,), _ = proposing(tmp_path, monkeypatch, [{}], lines)
    assert "the brake must be pressed before driving to {value}" in prompt
    assert "Rome" not in prompt
    known = ("drive", "speed", "rule", "match", "precondition", "rate_limit", "ask-human")
    assert all(each in prompt for each in known)


@pytest.mark.parametrize(("text", "masked"), table("propose.txt", "masked"))
def test_values_are_replaced_by_marks(text, masked, tmp_path, monkeypatch):
    lines = [{"tool": "t", "arguments": {"to": "Berlin"}, "message": text}]
    _, (prompt,), _ = proposing(tmp_path, monkeypatch, [{}], lines)
    assert f"error: {json.dumps(masked)}\n" in prompt


VALUES = st.text("abcdefgXYZéß0123456789-_@./'\" ", min_size=6, max_size=20).map(
    lambda text: f"q{text}q"
)
TEXTS = ("{} is not known", "no seat for {}, try again", "error<{}>", "a{}b is wrong", "[{}]: {}")


@settings(max_examples=40, deadline=None)
@given(VALUES, st.sampled_from(TEXTS), st.sampled_from(["flat", "deep", "key", "list"]))
def test_no_value_reaches_the_prompt(tmp_path_factory, value, text, form):
    forms = {
        "flat": {"to": value},
        "deep": {"to": {"a": {"b": value}}},
        "key": {"to": {value: 1}},
        "list": {"to": [{"x": value}]},
    }
    lines = [{"tool": "t", "arguments": forms[form], "message": text.format(value, value.upper())}]
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("p")
        _, (prompt,), _ = proposing(folder, patch, [{}], lines)
    assert value.lower() not in prompt.lower()
    assert json.dumps(value)[1:-1].lower() not in prompt.lower()


@pytest.mark.parametrize(("name", "answer", "why"), table("hostile_rules.txt", "answers"))
def test_a_hostile_answer_is_refused_and_costs_its_group_only(
    name, answer, why, tmp_path, monkeypatch, capsys
):
    other = {"tool": "fly", "arguments": {}, "error": "the brake must be pressed up there"}
    if isinstance(answer, dict) and isinstance(answer.get("rule"), dict):
        answer = {"rule": RULE | answer["rule"]}
    lines = [drive("Rome"), drive("Oslo"), other]
    good = {"rule": {**RULE, "id": "wing"}}
    code, prompts, rules = proposing(tmp_path, monkeypatch, [answer, good], lines)
    assert (code, len(prompts)) == (0, 2)
    assert [each["id"] for each in rules] == ["wing"]
    (told,) = [line for line in capsys.readouterr().out.splitlines() if "drive: " in line]
    assert "refused: " in told
    assert why in told


@pytest.mark.parametrize(
    "passes", [{"kind": "transient"}, {"kind": "timeout"}, {"repair": ["wait"]}]
)
def test_a_rule_that_lets_a_call_run_again_is_refused(passes, tmp_path, monkeypatch, capsys):
    code, *_ = proposing(tmp_path, monkeypatch, [{"rule": {**RULE, **passes}}])
    assert code == 1
    assert "may run again" in capsys.readouterr().out


@pytest.mark.parametrize(
    "other",
    [
        {"tool": "drive", "arguments": {}, "error": "the brake must be pressed and the gate open"},
        {**drive("Rome"), "status": 401},
    ],
    ids=["of another group", "that a rule decides"],
)
def test_a_pattern_that_matches_another_error_is_refused(other, tmp_path, monkeypatch, capsys):
    answers = [{"rule": RULE}, {}]
    code, *_ = proposing(tmp_path, monkeypatch, answers, [drive("Rome"), drive("Oslo"), other])
    assert code == 1
    assert "and no others" in capsys.readouterr().out


def test_odd_lines_are_told_and_successes_are_no_errors(tmp_path, monkeypatch, capsys):
    odd = table("propose.txt", "odd")
    lines = [*odd, {"tool": "t", "error": None}, drive("Rome")]
    code, prompts, _ = proposing(tmp_path, monkeypatch, [{"rule": RULE}], lines)
    assert (code, len(prompts)) == (0, 1)
    told = capsys.readouterr().err.splitlines()
    assert [line.partition(": ")[0] for line in told] == [
        f"errors.jsonl:{number}" for number in range(1, len(odd) + 1)
    ]


def test_what_a_rule_decides_is_not_asked(tmp_path, monkeypatch, capsys):
    lines = [{"tool": "t", "message": "Unauthorized"}, {"tool": "t", "message": "x", "status": 401}]
    code, prompts, _ = proposing(tmp_path, monkeypatch, [], lines)
    assert (code, prompts) == (1, [])
    assert "nothing is proposed" in capsys.readouterr().out


def test_the_most_frequent_come_first_and_no_more_than_most_are_asked(tmp_path, monkeypatch):
    words = ("alpha", "beta", "gamma")
    lines = [
        {"tool": "t", "message": f"the {word} valve is stuck"}
        for times, word in enumerate(words, 1)
        for _ in range(times)
    ]
    _, prompts, _ = proposing(tmp_path, monkeypatch, [{}, {}], lines, "--most", "2")
    assert ["gamma" in prompts[0], "beta" in prompts[1], len(prompts)] == [True, True, 2]
    # What is asked again because a connection broke counts too.
    (tmp_path / "asked.txt").unlink()
    _, prompts, _ = proposing(tmp_path, monkeypatch, ["break"] * 9, lines, "--most", "2")
    assert len(prompts) == 2


@pytest.mark.parametrize("options", table("propose.txt", "bad input"), ids=" ".join)
def test_bad_input(options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL.format(answers=[]), "utf-8")
    (tmp_path / "errors.jsonl").write_text(json.dumps(drive("Rome")), "utf-8")
    assert main(["propose", *options]) == 2


def test_a_map_of_ones_own_is_what_it_extends(tmp_path, monkeypatch):
    (tmp_path / "own.toml").write_text('format = 1\n[effects]\n"dri*" = "mutating"\n', "utf-8")
    options = ("--strategies", "own.toml")
    assert proposing(tmp_path, monkeypatch, [{"rule": RULE}], None, *options)[0] == 0
    made = StrategyMap.load(tmp_path / "proposed.toml")
    assert [each.key for each in made.rules] == ["proposed/brake"]
    assert [*made.effects] == ["dri*"]
