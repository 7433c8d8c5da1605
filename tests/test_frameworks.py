"""The integrations of other frameworks are small; tests/integrations runs each against its own."""

from __future__ import annotations

import ast
import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from selfcorrect.batch.mender import Mender
from selfcorrect.integrations.menders import Delegating, Items, Menders, asked
from selfcorrect.kernel.requests import why_no_call

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


# --- what a framework has of a request ------------------------------------------------------------


class Action(BaseModel):
    to: str


class Unfinished:
    later: Nothing  # noqa: F821


Unfinished = dataclass(Unfinished)


SCHEMA = Action.model_json_schema()
GEMINIS = {"type": "OBJECT", "properties": {"to": {"type": "STRING"}}, "required": ["to"]}


@pytest.mark.parametrize(
    ("form", "schema"),
    [
        (None, False),
        (True, True),
        (SCHEMA, SCHEMA),
        (Action, SCHEMA),
        ({"type": "json_schema", "json_schema": {"schema": SCHEMA}}, SCHEMA),
        ({"type": "json_object"}, True),
        ({"type": "text"}, False),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (SimpleNamespace, True),
        (Unfinished, True),
        (GEMINIS, {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}),
    ],
)
def test_the_form_of_an_answer_is_one_schema(form, schema):
    assert asked((), None, form).allows.schema == schema


def test_several_forms_are_one():
    both = asked([], answer={"anyOf": [SCHEMA, {"properties": {"why": {}}}]}).allows
    assert why_no_call(both, [{"to": "ann"}])
    assert why_no_call(both, [{"why": "so"}])
    assert why_no_call(asked([], answer=[]).allows, [{"to": "ann"}]) is None


@pytest.mark.parametrize(
    ("reason", "said", "why"),
    [
        (None, (), None),
        ("stop", (), "stop"),
        (SimpleNamespace(value="SAFETY"), (), "SAFETY"),
        (None, ({"choices": [{"finish_reason": "length"}]},), "length"),
        ("stop", ({"choices": [{"finish_reason": "content_filter"}]},), "content_filter"),
        ("stop", ({"content": [{"type": "refusal", "refusal": "No."}]},), "refusal"),
        ("length", (None, object()), "length"),
    ],
)
def test_a_refusal_counts_before_any_other_reason(reason, said, why):
    assert asked(()).ended(reason, *said).allows.finish_reason == why


# --- what the adapters share ----------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    id: str | None = None
    name: str = ""
    args: Any = None
    text: str = ""
    more: Any = None


ITEMS = Items(
    lambda part: bool(part.name),
    lambda name, args: Part("new", name, args),
    ("id",),
    ("name",),
    ("args",),
    lambda part: [part.text],
)
TOOLS = [{"name": "double", "parameters": {"properties": {"n": {"type": "integer"}}}}]


def answered(*parts: Part, settled: Any = ()) -> list[Part]:
    request = asked(TOOLS, settled=settled)
    menders = Menders()
    now = menders.answer_now(request, parts, ITEMS)
    assert asyncio.run(menders.answer(request, parts, ITEMS)) == now
    return now


def test_each_call_is_mended_in_its_place():
    first, second = (
        Part("a", "double", {"n": "1"}, more=object()),
        Part("a", "double", '{"n": "2"}'),
    )
    text = Part(text="Doubling.")
    assert answered(first, text, second) == [
        replace(first, args={"n": 1}),
        text,
        replace(second, args='{"n": 2}'),
    ]


@pytest.mark.parametrize("settled", [{"a"}, {"double"}])
def test_a_call_that_is_settled_is_left_alone(settled):
    call = Part("a", "double", {"n": "1"})
    assert answered(call, settled=settled) == [call]


def test_calls_stay_as_they_came_where_nobody_knows_which_answer_is_whose(monkeypatch):
    given, message = (
        [Part("a", "double", {"n": "1"}), Part("b", "double", {"n": "2"})],
        Mender.message,
    )

    def fewer(self: Mender, *args: Any, **kwargs: Any) -> Any:
        done = message(self, *args, **kwargs)
        return replace(done, calls=done.calls[1:])

    monkeypatch.setattr(Mender, "message", fewer)
    assert Menders().answer_now(asked(TOOLS), given, ITEMS) == given


def test_more_calls_than_anybody_means_stay_as_they_came():
    given = [Part(str(n), "double", {"n": "1"}) for n in range(1_001)]
    assert Menders().answer_now(asked(TOOLS), given, ITEMS) == given


class Base:
    kind = "base"

    def close(self) -> str:
        return "base"


class Inner(Base):
    kind = "inner"

    def close(self) -> str:
        return "inner"

    @property
    def size(self) -> int:
        return 3


class Wrapper(Delegating, Base):
    def __init__(self, wrapped: Base) -> None:
        super().__init__(wrapped)
        vars(self).update(own="wrapper")

    def name(self) -> str:
        return f"{self.own} of {self.kind}"


class Further(Wrapper):
    @property
    def size(self) -> int:
        return 4


def test_a_wrapper_is_the_wrapped_object_but_for_what_it_changes():
    inner = Inner()
    wrapper = Wrapper(inner)
    assert (wrapper.close(), wrapper.size, wrapper.name()) == ("inner", 3, "wrapper of inner")
    wrapper.kind, wrapper.note = "new", "mine"
    assert (inner.kind, wrapper.note, hasattr(inner, "note")) == ("new", "mine", False)
    assert Further(inner).size == 4
    assert isinstance(wrapper, Base)
    with pytest.raises(AttributeError, match="'Inner'"):
        _ = wrapper.nothing
