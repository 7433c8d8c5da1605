"""An argument that the tool does not know, and what may go of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from selfcorrect.kernel.likeness import is_spelled
from selfcorrect.kernel.texts import quoted
from selfcorrect.mending.choice import Fit, candidate
from selfcorrect.model import ABSENT, JSON, Safety
from selfcorrect.schema.keys import resembles
from selfcorrect.schema.nested import names_below
from selfcorrect.schema.places import Place, object_at, parent
from selfcorrect.schema.subschema import alternatives, same, types_of
from selfcorrect.text import Unclear


@dataclass(frozen=True, slots=True)
class Extra:
    """Leaves out an unknown key that resembles no known one; lossy wherever something is said.

    Attributes:
        keep: Names that are never left out.
    """

    keep: tuple[str, ...] = ()

    def __call__(self, value: JSON, want: Place) -> Iterator[Fit]:
        """Leave the key out; what may be a misspelt one, or belong deeper, is refused."""
        around = object_at(want.call, want.tool, parent(want.path))
        if value is ABSENT or around is None:
            raise Unclear("there is nothing to drop")
        given, _, names = around
        if want.key in names:
            raise Unclear("the schema knows this argument")
        if want.key in self.keep:
            raise Unclear("the map keeps this argument")
        twin = next((name for name in names if name in given and is_spelled(want.key, name)), None)
        if twin is not None:
            if not same(given[twin], value):
                raise Unclear(f"it contradicts {quoted(twin, 60)}")
            yield candidate(ABSENT, "twice", "the same value under another spelling")
            return
        open_ones = [name for name in names if name not in given or _holds_more(names[name], want)]
        if (near := resembles(want.key, open_ones)) is not None:
            raise Unclear(f"it may stand for {quoted(near, 60)}")
        if value is None or value in ({}, []) or (isinstance(value, str) and not value.strip()):
            yield candidate(ABSENT, "says-nothing", "nothing is said under this key")
        elif (deeper := resembles(want.key, names_below(want.tool.schema))) is not None:
            raise Unclear(f"it may stand for {quoted(deeper, 60)}, deeper inside")
        else:
            reason = "an argument that the tool does not know"
            yield Fit(ABSENT, "extra", Safety.LOSSY, reason)


def _holds_more(schema: JSON, want: Place) -> bool:
    """Whether an argument is an object, so that the key may belong into it."""
    return any("object" in types_of(one) for one in alternatives(schema, want.tool.schema))
