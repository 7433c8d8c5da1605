"""A thread in the form of any provider, made valid: what `Mender.history` does.

A form splits a thread into units: a turn with calls, an answer, or something else. `pair`
decides which answer stands behind which call, and the form puts the units together again.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, takewhile
from typing import Any

from selfcorrect.model import ABSENT, Change, JsonDict, JsonObject, Safety, frozen
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
"""What takes the place of an answer that is missing."""


def pair(units: Sequence[Unit]) -> dict[tuple[int, int], int]:
    """Return where the answer of each answered call stands, by the place and index of the call.

    An answer belongs to the nearest turn before it that has a call with its id and no answer yet.
    Of several such calls in it, the first one whose tool the answer names is meant, else the first
    one. An answer that has no id, but names its tool, belongs to such a call of this tool. Where as
    many answers without a call stand behind a turn as it has calls without an answer, they are
    those, in order. Any other answer belongs to no call.

    >>> turn = Unit(0, "turn", (ThreadCall("a", "look", {}),))
    >>> pair([turn, turn, Unit(2, "answer", answers="a")])
    {(1, 0): 2}
    """
    waiting: defaultdict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    answers: dict[tuple[int, int], int] = {}
    for at, unit in enumerate(units):
        # The last message comes first, and in it the first call.
        for index, call in reversed([*enumerate(unit.calls)]):
            for key in (("id", call.id), ("name", call.name)):
                waiting[key].append((at, index))
        if unit.answers is not None:
            is_named = unit.tool and not unit.answers
            row = waiting["name", unit.tool] if is_named else waiting["id", unit.answers]
            while row and row[-1] in answers:
                row.pop()
            near = [place for place in row[-_MOST_COMPARED:][::-1] if place not in answers]
            calls = [place for place in near if place[0] == near[0][0]]
            same_tool = (p for p in calls if units[p[0]].calls[p[1]].name == unit.tool)
            if calls:
                answers[next(same_tool, calls[0])] = at
    used = {*answers.values()}
    for at, unit in enumerate(units):
        behind = takewhile(
            lambda place: units[place].answers is not None, range(at + 1, len(units))
        )
        calls = [(at, index) for index in range(len(unit.calls)) if (at, index) not in answers]
        left = [place for place in behind if place not in used] if calls else []
        if len(calls) == len(left):
            # A gateway has changed their ids, or their names where these stand for ids.
            answers |= zip(calls, left, strict=True)
    return answers


_MOST_COMPARED = 100
"""How many calls with one id an answer is compared with."""


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
_REWRITTEN = "each call must have a name, an id of its own and an object as the API takes them"


def make_valid(messages: Sequence[Any], form: ProviderForm | None = None) -> ValidThread:
    """Return a thread made valid; pure, and a valid thread is unchanged.

    Ids are unique, arguments are objects, and directly behind each turn stands one answer to each
    of its calls: a missing answer says so, and an answer to no call is left out. Halves of
    characters are replaced.

    Args:
        messages: The thread.
        form: How it is written; without it, its messages show it.
    """
    form = form or form_of(messages)
    clean = [form.clean(message) for message in messages]
    units = form.split(clean)
    answers, calls = pair(units), _own_calls(units, form)
    changes = [
        Change(f"/{at}", old, new, Safety.EXACT, _UNSENT)
        for at, (old, new) in enumerate(zip(messages, clean, strict=True))
        if old is not new
    ]
    valid: list[Unit] = []
    used = {*answers.values()}
    for at, unit in enumerate(units):
        path = f"/{unit.at}"
        if unit.answers is not None:
            if at not in used:
                why = "it answers no open call"
                changes.append(Change(path, unit.item, ABSENT, Safety.LOSSY, why))
            continue
        item = form.with_calls(unit.item, calls[at]) if unit.calls else unit.item
        valid.append(replace(unit, item=item))
        is_malformed = [object_of(call.args) is None for call in unit.calls]
        if item != unit.item:
            safety = Safety.LOSSY if any(is_malformed) else Safety.EXACT
            changes.append(Change(path, unit.item, item, safety, _REWRITTEN))
        for index, call in enumerate(calls[at]):
            answer = Unit(-1, None, answers="")
            if (place := answers.get((at, index))) is not None:
                answer = units[place]
            else:
                why = "the call has no answer"
                changes.append(Change(path, ABSENT, call.id, Safety.EXACT, why))
            text = MALFORMED if is_malformed[index] else LOST
            valid.append(replace(answer, item=form.answer(answer.item, call, text)))
    value = form.join(valid)
    if value == list(messages):
        value, changes = list(messages), []
    elif not changes:
        why = "an answer must name its call and stand directly behind it"
        changes.append(Change("", list(messages), value, Safety.EXACT, why))
    return ValidThread(value, tuple(chain(*calls)), tuple(changes))


def _own_calls(units: Sequence[Unit], form: ProviderForm) -> list[list[ThreadCall]]:
    """Return the calls by place, each with an id of its own, as the API takes them."""
    taken = {call.id for unit in units for call in unit.calls}
    used: set[str] = set()
    numbers: defaultdict[str, int] = defaultdict(lambda: 1)

    def own(call: ThreadCall) -> ThreadCall:
        own_id, stem = call.id and fit(call.id, form.own_id), call.id[:_LONGEST] or "call"
        while not own_id or own_id in used or (own_id in taken and own_id != call.id):
            numbers[stem] += 1
            own_id = fit(f"{stem}_{numbers[stem]}", form.own_id)
        used.add(own_id)
        name, args = fit(call.name, form.own_name), object_of(call.args) or {}
        return replace(call, id=own_id, name=name, args=args)

    return [[*map(own, unit.calls)] for unit in units]


def form_of(messages: Sequence[JsonObject]) -> ProviderForm:
    """Return the form of a provider's thread: what one of its messages shows."""
    for message in messages:
        for name in ("responses", "gemini", "anthropic"):
            if FORMS[name].holds(message):
                return FORMS[name]
    return CHAT


def message_in(response: JsonObject) -> JsonObject:
    """Return the message of a whole response of Gemini; any other one is a message itself.

    Several candidates are alternatives, so none of them is taken.
    """
    candidates = response.get("candidates")
    if not isinstance(candidates, list) or len(candidates) != 1:
        return response
    candidate = candidates[0] if isinstance(candidates[0], dict) else {}
    content = candidate.get("content")
    return {**candidate, **content} if isinstance(content, dict) else candidate


def read_message(message: JsonObject) -> list[JsonDict] | str:
    """Return the calls of an assistant's message, whatever its form, or its text.

    Its thoughts do not count as text. Only a message of the assistant holds calls.
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
    texts = [part.get("text") for item in messages for part in _parts(item)]
    return "\n".join(text for text in texts if isinstance(text, str))


def stop_reason_of(message: JsonObject) -> str | None:
    """Return why the provider ended a message, in the words of OpenAI's chat; None if unknown."""
    if any(part.get("refusal") for item in _items(message) for part in (item, *_parts(item))):
        return "refusal"
    details = message.get("incomplete_details") or {}
    reasons = {**message, "reason": details.get("reason")}
    texts = [text for key in KEYS["stop_reasons"] if isinstance(text := reasons.get(key), str)]
    reason = texts[0].lower() if texts else ""
    return "length" if is_cut(reason) else reason or None


def _items(message: JsonObject) -> list[JsonObject]:
    """Return what a message of OpenAI's responses holds; any other one is its own item."""
    items = message.get("output")
    return items if isinstance(items, list) else [message]


def _parts(message: JsonObject) -> list[JsonDict]:
    """Return the parts of a message without its thoughts."""
    content = message.get("content") or message.get("parts") or ""
    parts = [{"text": content}] if isinstance(content, str) else content
    if not isinstance(parts, list) or _is_thought(message):
        return []
    return [part for part in parts if isinstance(part, dict) and not _is_thought(part)]


def _is_thought(part: JsonObject) -> bool:
    return part.get("thought") is True or part.get("type") in ("thinking", "reasoning")
