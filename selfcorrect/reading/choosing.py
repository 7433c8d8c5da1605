"""Which of the calls that were seen in a text the text really holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from selfcorrect.kernel.forms import FORM
from selfcorrect.kernel.standing import Standing, key_of, spoken
from selfcorrect.kernel.thinking import thought
from selfcorrect.reading.contract import Candidate, Deviation, Offered

_INVENTED: Final = re.compile(
    r"<\|im_start\|>\s*(?:user|system|tool)\b|<\|start_header_id\|>\s*(?:user|system|ipython|tool)\b"
    r"|<start_of_turn>\s*user\b|<\|(?:user|observation|human)\|>|<tool_response>|\[INST\]"
    r"|^[ \t]*#{1,6}[ \t]+(?:Instruction|User|Human)s?:?[ \t]*$"
    r"|^[ \t]*(?:Observation|Human|User|USER):|\A\s*(?:user|system|human)\s*\n",
    re.MULTILINE,
)
"""Where a model goes on in the name of someone else."""
_WORD: Final = re.compile(r"\w")
_NO_WORDS: Final = re.compile(
    rf"{FORM.pattern}|#[^\n]*|^[ \t]*\w+[ \t]*=[ \t]*\Z"
    r"|\A[)\]]*(?:\[[^\[\]\n]{0,60}\]|\.\w{1,40}(?:\([^()\n]{0,60}\))?"
    r"|[ \t]*[-+*/%<>=!]{1,3}[ \t]*[\w.'\"]{1,40}(?=[ \t]*$)){1,4}",
    re.MULTILINE,
)
"""What stands between the lines of one piece of code."""
_DESCRIPTION: Final = re.compile(
    r"\{\s*[\"']\w+[\"']\s*:\s*\{\s*[\"']type[\"']\s*:\s*[\"']\w+[\"']\s*,\s*[\"']description[\"']\s*:"
)
"""What shows that parameters are described, and not given."""
_BETWEEN: Final = " \t\r\n,;"
"""What stands between the calls of one row."""


class Found(NamedTuple):
    """The calls that count, in order; where each was written; the text without what was thought."""

    calls: tuple[Candidate, ...]
    written: tuple[Candidate, ...]
    text: str


def choose(text: str, seen: Iterable[Candidate], tools: Offered) -> Found:
    """The calls that a text really holds.

    The outermost call counts, not what stands inside its arguments. What a model writes in the
    name of the user or of a tool is not its own. Code counts only where no call is written in a
    form that is nothing but a call.
    """
    calls = [call for call in _outermost(seen) if not _describes(text, call)]
    text, calls = _spoken(text, calls)
    turn = _turn(text, calls)
    own = _without_remarks(text, [call for call in calls if call.start < turn])
    explicit = [call for call in own if not call.code]
    known = _known(text, [call for call in own if call.code], tools)
    nameless = [call for call in own if call.code and not call.name]
    alone = [call for call in own if call.fault is None]
    chosen = explicit or known or nameless or alone
    if chosen is alone and not Standing(text, chosen).alone():
        chosen = []
    if turn < len(text) and chosen:
        note = Deviation(turn, "a turn that the model made up is left out")
        chosen = [_noted(call, note) for call in chosen]
    return Found(tuple(once(chosen)), tuple(chosen), text)


def _outermost(seen: Iterable[Candidate]) -> list[Candidate]:
    kept: list[Candidate] = []
    for call in sorted(seen, key=lambda call: (call.start, -call.end)):
        last = kept[-1] if kept else None
        together = last is not None and (last.start, last.end) == (call.start, call.end)
        if last is None or call.start >= last.end or (together and last.code == call.code):
            kept.append(call)
    return kept


def _describes(text: str, call: Candidate) -> bool:
    """Whether something unreadable is the description of a tool's parameters."""
    nameless = call.fault is not None and not call.name
    return nameless and _DESCRIPTION.match(text, call.start) is not None


def _without_remarks(text: str, calls: list[Candidate]) -> list[Candidate]:
    """The calls without unreadable code that words set apart from all readable calls."""
    readable = [call for call in calls if call.fault is None]
    if not readable or len(readable) == len(calls):
        return calls
    return [
        call
        for group in _rows(text, calls, lambda gap: _WORD.search(_NO_WORDS.sub(" ", gap)))
        if any(c.fault is None or not c.code for c in group)
        for call in group
    ]


def _rows(
    text: str, calls: Iterable[Candidate], is_apart: Callable[[str], object]
) -> list[list[Candidate]]:
    """The calls in groups, between which something stands that sets them apart."""
    rows: list[list[Candidate]] = []
    end = 0
    for call in calls:
        if not rows or is_apart(text[end : call.start]):
            rows.append([])
        rows[-1].append(call)
        end = call.end
    return rows


def _known(text: str, calls: Sequence[Candidate], tools: Offered) -> list[Candidate]:
    """The calls of offered tools, and those of other tools that stand in one row with them."""
    found: list[Candidate] = []
    for row in _rows(text, calls, lambda gap: gap.strip(_BETWEEN)):
        known = [tools.meant(call.name) is not None for call in row]
        if any(known):
            meant = zip(row, known, strict=True)
            found += [call for call, is_known in meant if is_known or call.args]
    return found


def _spoken(text: str, calls: list[Candidate]) -> tuple[str, list[Candidate]]:
    """The text and the calls without what the model only thought, at unchanged offsets."""
    regions = thought(text, [(call.start, call.end) for call in calls])
    kept = [one for one in calls if not any(a <= one.start < b for a, b in regions)]
    return spoken(text, calls), kept


def _turn(text: str, calls: Sequence[Candidate]) -> int:
    """Where someone else's turn starts, outside the calls; the length of the text if nowhere."""
    spans = [(call.start, call.end) for call in calls]
    index = 0
    for found in _INVENTED.finditer(text):
        while index < len(spans) and spans[index][1] <= found.start():
            index += 1
        if index == len(spans) or found.start() < spans[index][0]:
            return found.start()
    return len(text)


def once(calls: Iterable[Candidate]) -> list[Candidate]:
    """The calls without those that were written again in another place of the text."""
    kept: list[Candidate] = []
    first: dict[tuple[str, str], int] = {}
    again: set[int] = set()
    for call in calls:
        if call.args is None:
            kept.append(call)
            continue
        key = key_of(call)
        index = first.get(key)
        # Two equal calls in one place are items of one list, so that both are meant.
        if index is None or (kept[index].start, kept[index].end) == (call.start, call.end):
            first.setdefault(key, len(kept))
            kept.append(call)
        elif index not in again:
            again.add(index)
            note = Deviation(call.start, "the same call is written again")
            kept[index] = _noted(kept[index], note)
    return kept


def _noted(call: Candidate, note: Deviation) -> Candidate:
    return replace(call, deviations=(*call.deviations, note))
