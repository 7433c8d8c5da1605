"""Laws of repairing calls: what runs is what was written, and each primitive is needed for it."""

import json
import re
from collections import Counter
from functools import cache
from importlib import import_module

import pytest
from corrupt import CHANGES, NAME, make_trials, offer

from selfcorrect import Mender
from selfcorrect.model import Call, Safety
from selfcorrect.names.likeness import typos
from selfcorrect.pointer import apply
from selfcorrect.values.primitives import Reading

TRIALS = 850
MOST_MISSED = 0.03
"""Valid calls in another spelling that no rule reads, such as a key that may be one of two."""


@cache
def trials():
    return list(make_trials(20_26, TRIALS))


@cache
def mender(at):
    """Return the mender of one of the trials; neighbours have the same tool."""
    return mender(at - 1) if at % 3 else Mender(offer(trials()[at].tool))


@cache
def is_read(at):
    """Say whether the valid call of a trial is ready to run, and as what it means."""
    form = trials()[at].form
    # What fits is left alone.
    assert mender(at).call({"name": NAME, "args": form.faithful[0]}).changes == ()
    found = mender(at).call(form.written)
    assert form.is_true(found.ready), (form, found)
    if found.ready and isinstance(form.written, dict) and "args" in form.written:
        # What is reported is what was done.
        done = apply(Call(form.written["name"], form.written["args"]), found.changes)
        assert (done.name, done.args) == (found.ready[0].name, found.ready[0].args)
    return bool(found.ready)


def test_another_spelling_of_a_valid_call_runs_as_the_same_call():
    read = sum(map(is_read, range(TRIALS)))
    assert read > (1 - MOST_MISSED) * TRIALS


def test_what_says_something_else_never_runs_as_the_call():
    seen, wrong = Counter(), []
    for at, trial in enumerate(trials()):
        for case in trial.cases if at % 2 == 0 and is_read(at) else ():
            found = mender(at).call(case.written).ready
            seen[case.kind] += 1
            if not case.is_true(found):
                wrong.append((trial.tool.get("effect", "undeclared"), case, found))
    assert seen.total() > 2_400
    assert seen.keys() == CHANGES.keys()
    assert wrong == [], "\n\n".join(map(str, wrong))


def reads(value, strategy="convert-type"):
    return [] if value is None else [Reading(value, Safety.INFERRED, strategy)]


def reads_found(pattern, strategy, make=str):
    """Return a reader that takes what it finds in a text, and leaves the rest."""

    def reader(value, _slot):
        found = re.search(pattern, str(value))
        return reads(make(found[0]) if found else None, strategy)

    return lambda _original: reader


def reads_if(says):
    """Return a reader of listed values by what a text says of them."""

    def reader(value, place):
        for each in place.choices:
            if isinstance(value, str) and says(value.lower(), str(each).lower()):
                yield Reading(each, Safety.INFERRED, "correct-enum")

    return lambda _original: reader


def prefix(text):
    """Return the JSON value that a text begins with."""
    try:
        return json.JSONDecoder().raw_decode(text.strip())[0]
    except ValueError:
        return None


def first_word(original):
    return lambda text: next((each for each in map(original, text.split()) if each), None)


def inside(original):
    """Return a comparison to which a name is alike whatever stands beside it."""
    return lambda one, other, *more, **rest: (
        0.1 if other in one else original(one, other, *more, **rest)
    )


def first_item(value):
    return value[0] if isinstance(value, list) and value else None


def instead(value):
    return lambda _original: value


NOTHING = Reading(None, Safety.EXACT, "convert-type")
YES = instead(lambda *_args, **_named: True)
VALUES, PASS = "selfcorrect.values", "selfcorrect.repairs.arguments"
READ = f"{VALUES}.readings"
READING = "selfcorrect.reading"
NUMBER = r"-?\d+(?:\.\d+)?"
MUTANTS = [
    # A primitive, which change finds it out, where it stands, and its broken version.
    (
        "the first number of a text",
        "more",
        f"{READ}.read_number",
        reads_found(NUMBER, "convert-type", float),
    ),
    ("any unit", "more", f"{VALUES}.numbers.is_asked_for", YES),
    ("a number word amid others", "more", f"{VALUES}.numbers.number_word", first_word),
    (
        "a sign before a number word",
        "more",
        f"{VALUES}.numbers.number_word",
        lambda original: lambda text: original(text.strip("-")),
    ),
    (
        "a number that is rounded",
        "",
        f"{VALUES}.numbers._number",
        instead(lambda digits, safety: [Reading(int(float(digits)), safety, "convert-type")]),
    ),
    (
        "the date in a text",
        "more",
        f"{READ}.read_date",
        reads_found(r"\d{4}-\d\d-\d\d", "format-date"),
    ),
    (
        "the month first",
        "order",
        f"{VALUES}.dates._days_in",
        lambda original: lambda text: original(text)[-1:],
    ),
    (
        "any day of the week",
        "order",
        f"{VALUES}.dates.days_in",
        lambda original: lambda text: original(re.sub(r"^[A-Z][a-z]+day, ", "", text)),
    ),
    (
        "a list without its last part",
        "",
        f"{VALUES}.lists._parts",
        lambda original: lambda text: original(text)[:-1],
    ),
    (
        "the first item of many",
        "wrap",
        f"{READ}.read_list",
        lambda _original: lambda value, _slot: reads(first_item(value), "unwrap-list"),
    ),
    ("half of a list as an item", "more", f"{VALUES}.lists._is_item", YES),
    (
        "a value whatever stands beside it",
        "wrap",
        f"{READ}.read_wrapped",
        lambda _original: lambda value, _slot: reads(value.get("value"), "unwrap-value"),
    ),
    (
        "a value under any key",
        "wrap",
        f"{READ}.read_wrapped",
        lambda _original: (
            lambda value, _slot: reads(next(iter(value.values()), None), "unwrap-value")
        ),
    ),
    ("what a nested text begins with", "inside", f"{VALUES}.structures.nested", instead(prefix)),
    (
        "the last of two values for a key",
        "inside",
        f"{READING}.strict_json._unique {READING}.json_text._same",
        instead(lambda pairs, *other: bool(other) or dict(pairs)),
    ),
    (
        "a nested text without its comment",
        "say",
        f"{VALUES}.structures._CERTAIN",
        lambda original: original | {"comment"},
    ),
    ("what a text in a wrapper begins with", "say", f"{PASS}.nested", instead(prefix)),
    (
        "what begins with true",
        "more",
        f"{READ}.read_boolean",
        reads_found(r"(?i)^(true|false)", "convert-type", lambda text: text.lower() == "true"),
    ),
    (
        "true in a text",
        "more",
        f"{READ}.read_boolean",
        reads_found(r"(?i)true|false", "convert-type", lambda text: text.lower() == "true"),
    ),
    ("a choice that a text begins with", "more", f"{READ}.read_choice", reads_if(str.startswith)),
    ("a choice that a text ends with", "more", f"{READ}.read_choice", reads_if(str.endswith)),
    ("a choice with a sign", "more", f"{VALUES}.choices._has_signs", instead(lambda _text: False)),
    (
        "a choice with three slips",
        "more",
        f"{VALUES}.choices._is_slip",
        instead(lambda text, choice: typos(text.lower(), choice.lower()) <= 3),
    ),
    (
        "a choice amid any words",
        "more",
        f"{VALUES}.choices._says_more",
        instead(lambda more, less, _idle: set(less) <= set(more)),
    ),
    (
        "none amid other words",
        "more",
        f"{READ}.read_nothing",
        lambda _original: lambda value, _slot: [NOTHING] * ("n" in value),
    ),
    (
        "a code in a text",
        "more",
        f"{READ}.read_words",
        reads_found(r"\b[A-Z]{3}\b", "correct-format"),
    ),
    (
        "the first of two readings",
        "order",
        f"{PASS}._Pass.surest",
        instead(lambda _self, _text, good, *_: good[0]),
    ),
    (
        "what is empty is left out",
        "empty",
        f"{PASS}._Pass.emptiness",
        instead(lambda _self, _key, _own, value, **_named: None if value else Safety.INFERRED),
    ),
    (
        "an unknown key is left out",
        "add",
        f"{PASS}._Pass.emptiness",
        instead(lambda _self, _key, own, _value, **_open: None if own else Safety.INFERRED),
    ),
    (
        "a wrapper whatever stands beside it",
        "add",
        f"{PASS}._Pass.unwrapped",
        lambda original: (
            lambda self, written, place: original(self, dict(list(written.items())[:1]), place)
        ),
    ),
    (
        "any word as a wrapper",
        "lift",
        f"{PASS}.WRAPPERS",
        lambda original: (
            original | {"cancelled", "refund", "not", "example", "except", "before", "if_approved"}
        ),
    ),
    (
        "a key that holds an argument's name",
        "key",
        "selfcorrect.names.arguments.difference",
        inside,
    ),
    ("a key with a sign", "key", "selfcorrect.names.likeness.is_plain", YES),
    (
        "a tool's name in a longer one",
        "rename",
        "selfcorrect.repairs.rename_tool.difference",
        inside,
    ),
    ("a tool's name with a sign", "rename", "selfcorrect.repairs.rename_tool.is_plain", YES),
    (
        "any namespace",
        "rename",
        "selfcorrect.repairs.rename_tool._NAMESPACE",
        instead(re.compile(r"\w+[.:/]")),
    ),
    (
        "a call whatever is said around it",
        "say",
        "selfcorrect.repairs.fix_json.may_read selfcorrect.nodes.text_finding.may_read",
        YES,
    ),
    ("what a text of arguments begins with", "say", f"{READING}.json_text.Scanner.end", YES),
    (
        "a call whatever stands beside it",
        "flag",
        f"{READING}.call_object._KEYS",
        lambda original: original | {"approved", "dry_run", "status", "when", "not"},
    ),
]


def breaks_a_law(kind):
    """Say whether a call of the trials that was right is wrong now."""
    for at in filter(is_read, range(TRIALS)):
        trial = trials()[at]
        cases = [case for case in trial.cases if case.kind == kind] if kind else [trial.form]
        if not all(case.is_true(mender(at).call(case.written).ready) for case in cases):
            return True
    return False


def resolve(target):
    """Return the module or class, and the name in it."""
    home, _, name = target.rpartition(".")
    module, _, holder = home.rpartition(".")
    is_class = holder.lstrip("_")[:1].isupper()
    return (getattr(import_module(module), holder) if is_class else import_module(home)), name


@pytest.mark.parametrize(
    ("kind", "target", "make"), [each[1:] for each in MUTANTS], ids=[each[0] for each in MUTANTS]
)
def test_a_broken_primitive_breaks_a_law(kind, target, make, monkeypatch):
    # Found out before anything is broken.
    assert any(list(map(is_read, range(TRIALS))))
    for each in target.split():
        owner, name = resolve(each)
        monkeypatch.setattr(owner, name, make(getattr(owner, name)))
    assert breaks_a_law(kind)
