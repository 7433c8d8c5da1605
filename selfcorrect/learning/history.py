"""Recorded calls by run: ordered, small in memory, with what is data and who is kin."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from selfcorrect.echoes import leaves
from selfcorrect.learning.calls import RecordedCall
from selfcorrect.model import JSON, JsonObject
from selfcorrect.protocols import Effect
from selfcorrect.recalling.named import schema_mark

_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_TELLING: Final = 20
"""Characters of a request from which on two runs that share it are of one task."""
_RARE: Final = 4
"""Tasks that may share a request for it to make their runs kin."""
_LONGEST_VALUE: Final = 64
_MOST_WORDS: Final = 3
_LONGEST_TEXT: Final = 2_000
_MOST_LEAVES: Final = 2_000


@dataclass(slots=True)
class Run:
    """The calls of one run.

    Attributes:
        task_id: Its id.
        calls: Its calls in order, without their results.
        data: Words that may be data: of its values, and names in its requests.
        kin: The task that it is an attempt at: runs of one task are no independent witnesses.
    """

    task_id: str
    calls: list[RecordedCall] = field(default_factory=list)
    data: set[str] = field(default_factory=set)
    kin: str = ""


@dataclass(slots=True)
class History:
    """All runs, and what they say of the tools.

    Attributes:
        runs: The runs by id.
        effects: What each tool does to the world, where a call says so.
        schemas: The schema of each tool, as last seen.
        marks: The mark of each tool's schema, as last seen.
        spoken: Words of the tools' own names and schemas: nobody's data.
    """

    runs: dict[str, Run] = field(default_factory=dict)
    effects: dict[str, Effect] = field(default_factory=dict)
    schemas: dict[str, JsonObject] = field(default_factory=dict)
    marks: dict[str, str] = field(default_factory=dict)
    spoken: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, calls: Iterable[RecordedCall]) -> History:
        """Collect the calls of all runs; one pass, results are not kept."""
        history, requests = cls(), dict[str, str]()
        texts: dict[str, JsonObject] = {}
        for call in calls:
            history._add(call, requests, texts)
        for run in history.runs.values():
            run.calls.sort(key=lambda call: call.seq)
        history._find_kin()
        return history

    @property
    def calls(self) -> Iterator[RecordedCall]:
        """Every call, run by run."""
        for run in self.runs.values():
            yield from run.calls

    def _add(
        self, call: RecordedCall, requests: dict[str, str], texts: dict[str, JsonObject]
    ) -> None:
        run = self.runs.setdefault(call.task_id, Run(call.task_id))
        request = call.request
        if request is not None:
            request = requests.setdefault(request, request)
            run.data.update(_names_in(request))
        for value in (call.arguments, call.result):
            run.data.update(_words_of_data(value))
        schema = call.schema
        if isinstance(schema, str):
            self.marks[call.tool] = schema
        elif schema is not None:
            text = json.dumps(schema, sort_keys=True, default=str)
            known = texts.get(text)
            if known is None:
                known = texts[text] = schema
                self.spoken.update(words_of(text))
            if self.schemas.get(call.tool) is not known:
                self.marks[call.tool] = schema_mark(known)
            schema = self.schemas[call.tool] = known
        if call.effect is not None:
            self.effects[call.tool] = call.effect
        self.spoken.update(words_of(call.tool))
        run.calls.append(replace(call, schema=schema, request=request, result=None))

    def _find_kin(self) -> None:
        """Runs that begin with the same request, or share a rare one, are of one task.

        What many tasks say (`go on`) makes nobody kin.
        """
        joined: dict[str, str] = {}

        def root(name: str) -> str:
            while (above := joined.get(name, name)) != name:
                name = above
            return name

        sharing: dict[str, set[str]] = {}
        for run in self.runs.values():
            said = list(dict.fromkeys(call.request for call in run.calls if call.request))
            texts = [" ".join(each.split()).casefold() for each in said]
            run.kin = texts[0] if texts and len(texts[0]) >= _TELLING else run.task_id
            for text in texts[1:]:
                if len(text) >= _TELLING:
                    sharing.setdefault(text, set()).add(run.kin)
        for kin in sharing.values():
            if len(kin) <= _RARE:
                first, *others = sorted(kin)
                for other in others:
                    joined[root(other)] = root(first)
        for run in self.runs.values():
            run.kin = root(run.kin)


def words_of(text: str) -> set[str]:
    """The words of a text, in lower case."""
    return {word.casefold() for word in _WORD.findall(text)}


def _words_of_data(value: JSON) -> Iterator[str]:
    """Words of the texts in a value that may be data: all of short ones, names in longer ones."""
    for _, item in islice(leaves(value, ""), _MOST_LEAVES):
        if isinstance(item, str):
            short = len(item) <= _LONGEST_VALUE and item.count(" ") < _MOST_WORDS
            yield from words_of(item) if short else _names_in(item[:_LONGEST_TEXT])


def _names_in(text: str) -> Iterator[str]:
    """Words that begin with a capital where no sentence begins."""
    for match in _WORD.finditer(text):
        before = text[: match.start()].rstrip(" '\"(")[-1:]
        if match[0][0].isupper() and before and before not in ".!?:\n":
            yield match[0].casefold()
