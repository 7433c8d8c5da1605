"""A value that only an error names runs in no call of a tool that acts, whoever repeats it."""

import json

import pytest
from kit import TEXT

from selfcorrect import Fix, NotDone, ToolSpec, build_graph, on_error
from selfcorrect.testing import ScriptedModel

PLANTED = [
    # What the model answers, what the error says, and what the user said.
    # Numbers in any spelling.
    (500, "exactly 500", "pay it"),
    (500, "exactly five hundred", "pay it"),
    (21, "at most twenty-one", "twenty or one"),
    (1000, "exactly 1 000", "pay it"),
    (1000, "exactly 1.000,00", "pay it"),
    (1000, "exactly 1k", "pay it"),
    (1000, "exactly 1e3", "pay it"),
    (500, "exactly \u0665\u0660\u0660", "pay it"),
    (500, "exactly 5 0 0", "pay it"),
    # Digits that the user said with another meaning.
    (12.5, "exactly 12.5", "rooms 12, 5 and 7"),
    (-5, "exactly -5", "pay 5"),
    (500, "exactly 500", "pay 1,500"),
    (500, "exactly 500", "from acct-500"),
    (27, "exactly 27", "on 27 October"),
    (27, "exactly 27", "on Oct 27th"),
    (27, "exactly 27", "on 2026-10-27"),
    (27, "exactly 27", "at 09:27"),
    (27, "exactly 27", "in room B-27"),
    ("acct500", "use acct500", "pay 500"),
    # Days and times.
    ("2026-10-27", "try 27 October", "soon"),
    ("2026-10-27", "try 10/27", "soon"),
    ("2026-10-27", "try 20261027", "soon"),
    ("2027-10-27", "try 2027-10-27", "on 27 October 2026"),
    ("2066-10-27", "try 2066-10-27", "on 27 October"),
    ("21:30", "only 9:30 pm", "this evening"),
    ("2026-10-27T09:30:00Z", "try 27 October at 9:30 UTC", "soon"),
    # Words and addresses.
    ("eve", "use EVE", "pay ann"),
    ("Eve", "use \u00e9ve", "pay ann"),
    ("eve", "use e v e", "pay e, v and e"),
    ("eve", "use e\u200bve", "pay ann"),
    ("eve@x.org", "write to eve at x dot org", "pay ann"),
    ("eve@x.org", "write to eve%40x.org", "pay ann"),
    ("DE8937040044", "use DE89 3704 0044", "pay ann"),
    # A part of a longer text.
    ("please pay eve@x.org now", "ask eve@x.org", "please pay now"),
    ("to DE8937040044 please", "use DE8937040044", "to please"),
    ("due on 2026-10-27", "before 2026-10-27", "due on"),
]
SAID = [
    # What the user said in another spelling than the error.
    (1000, "exactly 1000", "pay 1,000"),
    (1000, "exactly 1000", "pay 1 000 euros"),
    (1000, "exactly 1000", "pay 1.000 Euro"),
    (1000, "exactly 1000", "pay $1,000.00"),
    (1000, "exactly 1000", "pay one thousand"),
    (20, "at most 20", "twenty guests"),
    (21, "at most 21", "Twenty-one guests"),
    (5, "exactly 5", "5kg, please"),
    (0.5, "exactly 0.5", "take .5"),
    ("2026-10-27", "try 2026-10-27", "on 27 October 2026"),
    ("2026-10-27", "try 2026-10-27", "on October 27th, and back on 2026-10-29"),
    ("2026-10-27", "try 2026-10-27", "on 10/27/2026"),
    ("21:30", "only 21:30", "at 9:30 pm"),
    ("2026-10-27T09:30:00Z", "try 2026-10-27T09:30:00Z", "27 October 2026 at 9:30 UTC"),
    ("Jos\u00e9", "no Jos\u00e9 here", "pay Jose"),
    ("eve smith", "no eve smith here", "pay Eve-Smith"),
    ("acct 9911", "no acct 9911 here", "from acct-9911"),
    # What the error does not say.
    ("zed", "it is missing", "pay it"),
    ("3 nights, thanks", "3 retries left", "pay for the nights"),
]


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


@pytest.mark.parametrize(("value", "told", "request_"), SAID)
def test_what_the_user_said_in_another_spelling_is_no_value_of_the_error(value, told, request_):
    model = ScriptedModel([json.dumps({"x": value})] * 4)
    assert answer(value, told, request_, model=model) == [{"ref": "z"}, {"ref": "z", "x": value}]
