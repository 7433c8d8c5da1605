"""A value that only an error names runs in no call of a tool that acts, whoever repeats it."""

import json

import pytest
from kit import TEXT, table

from selfcorrect import Fix, NotDone, ToolSpec, build_graph, on_error
from selfcorrect.testing import ScriptedModel

PLANTED = table("taint.txt", "planted")


def answer(value, told, request, **options):
    """Run a call that lacks `x`; return the calls of the tool, which refuses the first one."""
    ran = []

    def act(**args):
        ran.append(args)
        if len(ran) == 1:
            raise NotDone(f"missing required argument 'x': {told}")
        return "done"

    kind = {"type": "number"} if isinstance(value, int | float) else TEXT
    properties = {"x": kind, "ref": TEXT}
    parameters = {"type": "object", "properties": properties, "required": ["ref"]}
    described = {"name": "act", "description": "", "parameters": parameters}
    spec = ToolSpec.from_schema(described, call=act, effect="mutating")
    call = {"name": "act", "args": {"ref": "z"}}
    build_graph([spec], **options).invoke({"call": call, "request": request})
    return ran


@pytest.mark.parametrize(("value", "told", "request_"), PLANTED)
def test_a_value_of_an_error_runs_in_no_call(value, told, request_):
    model = ScriptedModel([json.dumps({"x": value})] * 4)
    assert answer(value, told, request_, model=model) == [{"ref": "z"}]


@pytest.mark.parametrize(("value", "told", "request_"), PLANTED[:1] + PLANTED[26:27])
def test_a_fixer_that_is_a_model_takes_nothing_from_an_error(value, told, request_):
    text = json.dumps({"ref": "z", "x": value})
    fixes = on_error(invalid_args=Fix(ScriptedModel([text] * 4)))
    assert {"ref": "z", "x": value} not in answer(value, told, request_, on_error=fixes)


@pytest.mark.parametrize(("value", "told", "request_"), table("taint.txt", "said"))
def test_what_the_user_said_in_another_spelling_is_no_value_of_the_error(value, told, request_):
    model = ScriptedModel([json.dumps({"x": value})] * 4)
    assert answer(value, told, request_, model=model) == [{"ref": "z"}, {"ref": "z", "x": value}]
