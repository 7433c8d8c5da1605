"""clamp: moves a number to the nearest bound."""

from operator import gt, lt
from typing import Any

from selfcorrect.model import Call, Change, Changed, Diagnosis, GiveUp, Repair, Safety
from selfcorrect.pointer import keys_of, look
from selfcorrect.protocols import RepairContext


def clamp(call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
    """Clamp 500 to 50 where 50 is the maximum; the change is lossy."""
    before = look(call, diagnosis.path)
    if not isinstance(before, int | float) or isinstance(before, bool):
        return GiveUp("there is no number where the error points")
    trusted = context.trust(diagnosis)
    place = context.place(call).at(keys_of(diagnosis.path), call.args)
    bounds = {**place.view, **trusted.constraint}
    for name, is_out in (("minimum", lt), ("maximum", gt)):
        limit = _number(bounds.get(name, trusted.captures.get(name)))
        if limit is not None and is_out(before, limit):
            change = Change(diagnosis.path, before, limit, Safety.LOSSY, f"the {name}")
            return Changed(change)
    return GiveUp("the number is beyond no known bound")


def _number(value: Any) -> int | float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return int(number) if number.is_integer() else number
