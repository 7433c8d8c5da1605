"""A thread in the form of any provider, made valid: what `Mender.history` does.

A form splits a thread into units: a turn with calls, an answer, or something else. `pair`
decides which answer stands behind which call, and the form puts the units together again.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, pairwise, takewhile
from typing import Any, Protocol

from selfcorrect.model import ABSENT, JSON, Change, JsonDict, JsonObject, Safety, frozen
from selfcorrect.reading.call_object import is_cut
from selfcorrect.threads.forms import (
    CHAT,
    FORMS,
    KEYS,
    ProviderForm,
    ThreadCall,
    Unit,
    fit,
    object_of,
)

_LONGEST = 30
LOST = "The answer to this call is missing. Nobody knows whether the call was made."
MALFORMED = "This call was not made: its arguments are not a JSON object."
"""What stands in the place of an answer that is missing."""


@frozen
class Step:
    """One message of a valid thread.

    Attributes:
        at: Where the message stands in the given thread; None for an answer that is missing.
        ids: The ids of its calls, or the id of the call that it answers.
        call: Of an answer: where its call stands, as place of the message and index in it.
    """

    at: int | None
    ids: tuple[str, ...] = ()
    call: tuple[int, int] | None = None


def pair(units: Sequence[Unit], own_id: str = ".+") -> list[Step]:
    """Return the thread in which each call has an id of its own and one answer directly behind it.

    An answer belongs to the nearest turn before it that has a call with its id and no answer yet.
    Of several such calls in it, the first one whose tool the answer names is meant, else the first
    one. An answer that has no id, but names its tool, belongs to such a call of this tool. Where as
    many answers without a call stand behind a turn as it has calls without an answer, they are
    those, in order. Any other answer to no call is left out.

    Args:
        units: The thread.
        own_id: The pattern of the ids that may be sent.

    >>> turn = Unit(0, "turn", (ThreadCall("a", "look", {}),))
    >>> [step.ids for step in pair([turn, turn, Unit(2, "answer", answers="a")])]
    [('a',), ('a',), ('a_2',), ('a_2',)]
    """
    answers, ids = _find_answers(units), _own_ids(units, own_id)
    steps: list[Step] = []
    for at, unit in enumerate(units):
        if unit.answers is not None:
            continue
        steps.append(Step(at, ids[at]))
        steps += (
            Step(answers.get((at, index)), (call_id,), (at, index))
            for index, call_id in enumerate(ids[at])
        )
    return steps


_MOST_COMPARED = 100
"""How many calls with one id an answer is compared with."""


def _find_answers(units: Sequence[Unit]) -> dict[tuple[int, int], int]:
    """Return where the answer of each answered call stands, by place and index of the call."""
    by_id: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    by_name: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    found: dict[tuple[int, int], int] = {}
    for at, unit in enumerate(units):
        # The last message comes first, and in it the first call.
        for index, call in reversed([*enumerate(unit.calls)]):
            by_id[call.id].append((at, index))
            by_name[call.name].append((at, index))
        if unit.answers is not None:
            is_named = unit.tool and not unit.answers
            waiting = by_name[unit.tool] if is_named else by_id[unit.answers]
            while waiting and waiting[-1] in found:
                waiting.pop()
            near = [each for each in islice(reversed(waiting), _MOST_COMPARED) if each not in found]
            calls = [each for each in near if each[0] == near[0][0]]
            named = (each for each in calls if units[each[0]].calls[each[1]].name == unit.tool)
            if calls:
                found[next(named, calls[0])] = at
    known = {*found.values()}
    for at, unit in enumerate(units):
        behind = takewhile(lambda each: units[each].answers is not None, range(at + 1, len(units)))
        calls = [(at, index) for index in range(len(unit.calls)) if (at, index) not in found]
        left = [each for each in behind if each not in known] if calls else []
        # A gateway has changed their ids, or their names where these stand for ids.
        found |= zip(calls, left, strict=True) if len(calls) == len(left) else ()
    return found


def _own_ids(units: Sequence[Unit], pattern: str) -> list[tuple[str, ...]]:
    """Return the ids by place: one that is empty, refused or used before gets another one."""
    taken = {call.id for unit in units for call in unit.calls}
    used: set[str] = set()
    numbers: defaultdict[str, int] = defaultdict(lambda: 1)

    def own(call: ThreadCall) -> str:
        made, stem = call.id and fit(call.id, pattern), call.id[:_LONGEST] or "call"
        while not made or made in used or (made in taken and made != call.id):
            numbers[stem] += 1
            made = fit(f"{stem}_{numbers[stem]}", pattern)
        used.add(made)
        return made

    return [tuple(map(own, unit.calls)) for unit in units]


class Form(Protocol):
    """How messages are written: `ProviderForm`, or the one of LangChain.

    Attributes:
        own_name: The pattern of the names of tools that may be sent.
        own_id: The pattern of the ids of calls that may be sent.
    """

    @property
    def own_name(self) -> str: ...

    @property
    def own_id(self) -> str: ...

    def clean(self, message: Any) -> Any:
        """Return a message without what no provider takes: halves of characters, blank texts."""

    def is_written(self, args: JSON) -> bool:
        """Say whether arguments are written as this form wants them."""
        ...

    def split(self, messages: Sequence[Any]) -> list[Unit]:
        """Return the units of a thread."""
        ...

    def with_calls(self, item: Any, calls: Sequence[ThreadCall]) -> Any:
        """Return a turn with these calls in place of its own."""

    def answer(self, item: Any, call: ThreadCall, text: str) -> Any:
        """Return the answer to a call: the item, or one with the text where there is none."""

    def join(self, units: Sequence[Unit]) -> list[Any]:
        """Return the messages that these units make."""
        ...


@frozen
class ValidThread:
    """A thread that every provider of its form takes.

    Attributes:
        messages: The thread; the same objects where nothing was wrong.
        calls: Its calls.
        changes: What was changed; a path names the message in the given thread.
    """

    messages: list[Any]
    calls: tuple[ThreadCall, ...]
    changes: tuple[Change, ...]


_UNSENT = "half a character, or a blank text, was replaced"


def make_valid(messages: Sequence[Any], form: Form | None = None) -> ValidThread:
    """Return a thread made valid; pure, and a valid thread is unchanged.

    Ids are unique, arguments are objects, and directly behind each turn stands one answer to each
    of its calls: a missing answer says so, and an answer to no call is left out. Halves of
    characters are replaced.

    Args:
        messages: The thread.
        form: How it is written; without it, its messages show it.
    """
    form = form or form_of(messages)
    clean = [form.clean(each) for each in messages]
    units = form.split(clean)
    steps = pair(units, form.own_id)
    turns = {
        step.at: tuple(map(partial(_own_call, form), units[step.at or 0].calls, step.ids))
        for step in steps
        if not step.call
    }
    made = [_unit(step, units, turns, form) for step in steps]
    value = form.join(made)
    calls = tuple(call for each in turns.values() for call in each)
    if value == list(messages):
        return ValidThread(list(messages), calls, ())
    changes = [
        Change(f"/{at}", old, new, Safety.EXACT, _UNSENT)
        for at, (old, new) in enumerate(zip(messages, clean, strict=True))
        if old is not new
    ]
    changes += _changes(units, steps, turns, form)
    if not changes:
        why = "answers must name their calls and stand together"
        changes = [Change("", list(messages), value, Safety.EXACT, why)]
    return ValidThread(value, calls, tuple(changes))


def read_message(message: JsonObject) -> list[JsonDict] | str:
    """Return the calls of an assistant's message, whatever its form, or its text.

    A thought is no text of it, and nobody else's message holds its calls.
    """
    if message.get("role") in KEYS["others"]:
        return ""
    messages = _items(message)
    units = form_of(messages).split(messages)
    calls = [call for unit in units for call in unit.calls]
    if calls:
        return [
            {"name": c.name, "args": c.args if c.text is None else c.text}
            | ({"id": c.id} if c.has_id else {})
            for c in calls
        ]
    texts = [part.get("text") for each in messages for part in _parts(each)]
    return "\n".join(each for each in texts if isinstance(each, str))


def _is_thought(part: JsonObject) -> bool:
    return part.get("thought") is True or part.get("type") in ("thinking", "reasoning")


def stop_reason_of(message: JsonObject) -> str | None:
    """Return why the provider ended a message, in the words of OpenAI's chat; None if unknown."""
    if any(each.get("refusal") for m in _items(message) for each in (m, *_parts(m))):
        return "refusal"
    details = message.get("incomplete_details") or {}
    said = {**message, "reason": details.get("reason")}
    texts = [each for key in KEYS["stop_reasons"] if isinstance(each := said.get(key), str)]
    reason = texts[0].lower() if texts else ""
    return "length" if is_cut(reason) else reason or None


def _items(message: JsonObject) -> list[JsonObject]:
    """Return what a message of OpenAI's responses holds; any other one is its own item."""
    items = message.get("output")
    return items if isinstance(items, list) else [message]


def _parts(message: JsonObject) -> list[JsonDict]:
    """Return the parts of a message that are no thoughts."""
    content = message.get("content") or message.get("parts") or ""
    parts = [{"text": content}] if isinstance(content, str) else content
    found = parts if isinstance(parts, list) and not _is_thought(message) else []
    return [each for each in found if isinstance(each, dict) and not _is_thought(each)]


def form_of(messages: Sequence[JsonObject]) -> ProviderForm:
    """Return the form of a provider's thread: what one of its messages shows."""
    for each in messages:
        for name in ("responses", "gemini", "anthropic"):
            if FORMS[name].holds(each):
                return FORMS[name]
    return CHAT


def _own_call(form: Form, call: ThreadCall, own: str) -> ThreadCall:
    name = fit(call.name, form.own_name)
    if (call.id, call.name) == (own, name) and isinstance(call.args, dict):
        return call
    return replace(call, id=own, name=name, args=object_of(call.args) or {})


def _unit(
    step: Step,
    units: Sequence[Unit],
    turns: dict[int | None, tuple[ThreadCall, ...]],
    form: Form,
) -> Unit:
    unit = Unit(-1, None, answers="") if step.at is None else units[step.at]
    if step.call is None:
        calls = turns[step.at]
        return replace(unit, item=form.with_calls(unit.item, calls)) if calls else unit
    turn, index = step.call
    call = turns[turn][index]
    is_call = object_of(units[turn].calls[index].args) is not None
    return replace(unit, item=form.answer(unit.item, call, LOST if is_call else MALFORMED))


_MUST_BE_OBJECT = "the arguments must be an object, in the form of this thread"


def _changes(
    units: Sequence[Unit],
    steps: Sequence[Step],
    turns: dict[int | None, tuple[ThreadCall, ...]],
    form: Form,
) -> Iterator[Change]:
    """Yield what was changed, and why."""
    kept = [step.at for step in steps if step.at is not None]
    before = dict(pairwise(sorted(kept)))
    moved = {at for old, at in pairwise(kept) if before.get(old) != at}
    for at, unit in enumerate(units):
        path = f"/{unit.at}"
        for old, new in zip(unit.calls, turns.get(at, ()), strict=True):
            if old.has_id and old.id != new.id:
                why = "it must have an id of its own, in the form that the API takes"
                yield Change(path, old.id, new.id, Safety.EXACT, why)
            if old.name != new.name:
                yield Change(path, old.name, new.name, Safety.EXACT, "the API takes no such name")
            if not form.is_written(old.args):
                is_lost = object_of(old.args) is None
                why = "the arguments are not an object" if is_lost else _MUST_BE_OBJECT
                safety = Safety.LOSSY if is_lost else Safety.EXACT
                yield Change(path, old.args, new.args, safety, why)
        if unit.answers is not None and at not in kept:
            why = "it answers no open call"
            yield Change(path, unit.item, ABSENT, Safety.LOSSY, why)
        elif unit.answers is not None and at in moved:
            why = "an answer must stand directly behind its call"
            yield Change(path, unit.item, unit.item, Safety.EXACT, why)
    for step in steps:
        if step.at is None and step.call:
            path = f"/{units[step.call[0]].at}"
            yield Change(path, ABSENT, step.ids[0], Safety.EXACT, "the call has no answer")
