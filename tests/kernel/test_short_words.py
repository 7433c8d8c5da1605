"""`no` in a key is short for a number only where it cannot say that there is none."""

from __future__ import annotations

import pytest

from selfcorrect import Safety
from selfcorrect.kernel.changes import judge
from selfcorrect.kernel.verdicts import Step
from selfcorrect.model import Call
from selfcorrect.schema.slots import slots_of

NUMBERS = [
    ("order_no", "order_number"), ("seatNumber", "seat_no"),
    ("no_of_guests", "number_of_guests"), ("number_of_guests", "no_of_guests"),
]  # fmt: skip
NONE = [
    ("param_seat_numbers", "no_seat_numbers"), ("number_fees", "no_fees"),
    ("no_fees", "fees_number"), ("noSeat", "seat_number"), ("seat_number", "max_no_seat"),
]  # fmt: skip


def judged(written, name):
    schema = {"type": "object", "properties": {name: {"type": "integer"}}, "required": [name]}
    step = Step(Call("t", {written: 3}), Call("t", {name: 3}), slots_of(schema), ["t"], "mutating")
    return judge(step).safety


@pytest.mark.parametrize(("written", "name"), NUMBERS)
def test_a_number_is_short(written, name):
    assert judged(written, name) is Safety.INFERRED


@pytest.mark.parametrize(("written", "name"), NONE)
def test_a_negation_is_no_number(written, name):
    assert judged(written, name) is Safety.LOSSY
