"""What the kernel says of the calls that a reader found in a text."""

from __future__ import annotations

from selfcorrect.kernel.changes import judge
from selfcorrect.kernel.metadata import ended
from selfcorrect.kernel.verdicts import Step
from selfcorrect.model import Call
from selfcorrect.reading.texts import read_calls
from selfcorrect.schema.slots import slots_of


def classes(text, tools, **more):
    """The class of each call that is made of a text."""
    reading = read_calls(text, tools, **more)
    end = ended(more.get("finish_reason"))
    return {_class(text, call, tools, reading.written, end) for call in reading.calls}


def _class(text, found, tools, extents, end):
    tool = tools.get(found.name)
    slot, effect = slots_of(tool.schema if tool else {}), tool.effect if tool else "mutating"
    written, said = Call("", raw=text), {"extents": extents, "ended": end}
    return judge(Step(written, found.call, slot, [*tools], effect, **said)).safety
