"""A chat model that does what the text of a failed call tells it, and nothing else.

It reads families of English wordings (`wordings.py`), no runtime's own sentences. What it knows
beyond the text is what its user said (`Part.facts`) and the schemas of its tools. It never calls a
tool that the request does not cover, and never lets a text put another value in the place of one
that the user gave: so it may read everything, whoever wrote it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from wordings import (
    AGAIN,
    COMES_FIRST,
    EXTRA,
    FIRST,
    MISSING,
    PROPOSES,
    TERMINAL,
    UNREADABLE,
    as_number,
    asking,
    bounds,
    formats,
    names,
    near,
    nearest,
    objects,
    offered,
    sentences,
    stems,
    stops,
    unescaped,
    waiting,
    without_echo,
)

MOST_TURNS = 10
PATIENCE_S = 60.0
"""A model waits no longer for its user's answer; it tells when to come back."""
A_TURN_S = 1.0
"""What a model needs for a turn, at the least."""
NEAR = 0.5
ARGUMENTS = ("arguments", "args", "input", "parameters")
BLANK: tuple[Any, ...] = (None, "", [], {})

End = Literal["done", "told", "asked", ""]
Ending = Literal["ask", "tell"]


@dataclass(frozen=True)
class Call:
    """What the model writes. Arguments as text are what it wrote instead of JSON."""

    name: str
    args: Any = field(default_factory=dict)
    meant: Mapping[str, Any] = field(default_factory=dict)
    """The arguments it can write where the text of them was no JSON."""


Step: TypeAlias = Call | Ending | None


@dataclass(frozen=True)
class Part:
    """What the model is asked for: its first calls, and what it knows from its user.

    Args:
        request: What the user says.
        plan: The calls that the model would make if none failed.
        facts: By parameter, the forms in which the user's words may be written.
        covers: Further tools that the request covers; those of the plan are.
        firm: Parameters whose value the user fixed: no bound moves them.
    """

    request: str
    plan: tuple[Call, ...]
    facts: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    covers: tuple[str, ...] = ()
    firm: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Tool:
    """What a model sees of a tool."""

    name: str
    description: str
    places: tuple[str, ...]
    required: frozenset[str]

    @classmethod
    def of(cls, name: str, description: str, schema: Mapping[str, Any]) -> Tool:
        places = tuple(_places(schema, schema.get("$defs", {})))
        return cls(name, description, places, frozenset(schema.get("required", ())))


def _places(schema: Any, defs: Any, before: str = "") -> Iterator[str]:
    schema = defs.get(schema["$ref"].rsplit("/", 1)[-1], {}) if "$ref" in schema else schema
    for name, inner in schema.get("properties", {}).items():
        yield before + name
        yield from _places(inner, defs, f"{before}{name}.")


@dataclass
class Obedient:
    """The model: one call or one text at a time.

    Args:
        part: What it is asked for.
        waits: Told how long the model takes, and waits, before its next call.
    """

    part: Part
    waits: Callable[[float], None] = lambda _seconds: None
    tools: dict[str, Tool] = field(default_factory=dict)
    turns: int = 0
    end: End = ""
    call: Call = field(default_factory=lambda: Call(""))
    queue: list[Call] = field(default_factory=list)
    succeeded: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    read: Counter[str] = field(default_factory=Counter)
    tried: dict[str, list[Any]] = field(default_factory=dict)

    def next(self, texts: Sequence[str]) -> Call | str:
        """The next call, or the closing words."""
        self.turns += 1
        self.waits(A_TURN_S)
        if self.turns == 1:
            self.queue = list(self.part.plan)
            return self._go_on()
        text = "\n".join(texts)
        if is_done(text):
            self.succeeded.append(self.call.name)
            self.results.append(text)
            self.read.clear()
            return self._go_on()
        self.read[text] += 1
        if self.turns > MOST_TURNS or self.read[text] > 1:
            return self._close("tell", text)
        step = self._obey(without_echo(unescaped(text), self.call.args))
        return self._make(step) if isinstance(step, Call) else self._close(step, text)

    def _go_on(self) -> Call | str:
        if self.queue:
            return self._make(self.queue.pop(0))
        self.end = "done"
        return " ".join(["All of it is done.", *self.results])

    def _make(self, call: Call) -> Call:
        self.call = call
        for place, value in flat(call.args).items():
            self.tried.setdefault(place, []).append(value)
        return call

    def _close(self, step: Ending | None, text: str) -> str:
        self.end = "asked" if step == "ask" else "told"
        opening = "Please tell me what to do." if step == "ask" else "I could not do all of it."
        return f"{opening} {text}"

    def _obey(self, text: str) -> Step:
        """The first of these that the text says, and that can be done."""
        steps = (
            self._stop,
            self._ask_plainly,
            self._make_the_ready_call,
            self._take_a_tool_that_is_there,
            self._write_it_again,
            self._do_first_what_comes_first,
            self._keep_the_bound,
            self._choose_what_is_offered,
            self._write_the_form,
            self._fill_in,
            self._name_it_rightly,
            self._wait,
            self._give_up,
            self._say_it_otherwise,
            self._ask_at_last,
            self._repeat,
        )
        return next((said for step in steps if (said := step(text)) is not None), None)

    def _stop(self, text: str) -> Step:
        return "tell" if stops(text) else None

    def _ask_plainly(self, text: str) -> Step:
        return "ask" if asking(text) == "plainly" else None

    def _make_the_ready_call(self, text: str) -> Step:
        """A call that the text holds ready, if it is covered and keeps what the user gave."""
        for at, data in objects(text):
            name = data.get("name") or data.get("tool") or data.get("tool_name")
            args = next((data[key] for key in ARGUMENTS if isinstance(data.get(key), dict)), None)
            if isinstance(name, str) and args is not None:
                call = Call(name, args)
            elif self._are_arguments(data) and PROPOSES.search(text[max(0, at - 80) : at]):
                call = Call(self.call.name, {**self.call.args, **data})
            else:
                continue
            is_new = (call.name, call.args) != (self.call.name, self.call.args)
            if is_new and call.name in self._covered() and self._keeps_facts(call.args):
                return call
        return None

    def _take_a_tool_that_is_there(self, text: str) -> Step:
        """The nearest of the tools that the text names, where no tool has the name called."""
        if self.call.name in self.tools:
            return None
        named = [name for name in self._covered() if re.search(rf"\b{re.escape(name)}\b", text)]
        best = nearest(self.call.name, named)
        args = self.call.args if isinstance(self.call.args, dict) else self.call.meant
        return "tell" if best is None else Call(best, dict(args), self.call.meant)

    def _write_it_again(self, text: str) -> Step:
        if isinstance(self.call.args, dict):
            return None
        return self._with_args(self.call.meant) if UNREADABLE.search(text) else "tell"

    def _do_first_what_comes_first(self, text: str) -> Step:
        """The one covered tool that does what has to come first; then the call once more."""
        parts = [each for each in sentences(text) if COMES_FIRST.search(each)]
        parts += [text] * any(FIRST.search(each) for each in parts)
        done = {self.call.name, *self.succeeded}
        others = [self.tools[name] for name in self._covered() if name not in done]
        for part in parts:
            marks = {tool.name: _said(tool, part) for tool in others}
            best = max(marks.values(), default=0)
            chosen = [name for name, mark in marks.items() if mark == best]
            args = self._known(self.tools[chosen[0]]) if best and len(chosen) == 1 else None
            if args is not None:
                self.queue = [self.call, *self.queue]
                return Call(chosen[0], args)
        return None

    def _keep_the_bound(self, text: str) -> Step:
        """The bound itself, where a value lies beyond it and the user did not fix it."""
        found = ((each, allowed) for each in sentences(text) if (allowed := bounds(each)))
        for sentence, (low, high, is_length) in found:
            for place, value in self._meant(sentence, text):
                sized = len(value) if is_length and isinstance(value, str) else value
                number = as_number(sized)
                bound = _beyond(number, low, high)
                if bound is None:
                    continue
                if leaf(place) in self.part.firm:
                    return "tell"
                if not is_length:
                    return self._with(place, int(bound) if bound == int(bound) else bound)
                return self._with_form(place, _no_longer_than(bound))
        return None

    def _choose_what_is_offered(self, text: str) -> Step:
        """The nearest of the values offered; two equally near are the user's to choose from."""
        for sentence in sentences(text):
            for values in offered(sentence):
                for place, value in self._meant(sentence, text):
                    if isinstance(value, str | int | float) and value not in values:
                        chosen = self._nearest_of(values, place, value)
                        if chosen:
                            return self._with(place, chosen[0]) if len(chosen) == 1 else "ask"
        return None

    def _nearest_of(self, values: list[str], place: str, value: Any) -> list[str]:
        forms = [value, *self.part.facts.get(leaf(place), ())]
        marks = {each: max(near(form, each) for form in forms) for each in values}
        best = max(marks.values())
        return [each for each, mark in marks.items() if mark == best and best >= NEAR]

    def _write_the_form(self, text: str) -> Step:
        """The user's value in the form that the text asks for."""
        for is_right in formats(text):
            for place, value in self._meant(text, text):
                if is_right(value):
                    continue
                step = self._with_form(place, is_right)
                if step != "ask" or names(text, place):
                    return step
        return None

    def _fill_in(self, text: str) -> Step:
        """What is missing, from what the user said."""
        args = flat(self.call.args)
        places = sorted(self._tool().places, key=len, reverse=True)
        for sentence in sentences(text):
            if not MISSING.search(sentence):
                continue
            around = sentence if any(names(sentence, place) for place in places) else text
            for place in places:
                if names(around, place) and args.get(place) in BLANK and not self._holds(place):
                    forms = self.part.facts.get(leaf(place))
                    return self._with(place, forms[0]) if forms else "ask"
        return None

    def _name_it_rightly(self, text: str) -> Step:
        """A parameter that the tool does not know, under its right name or left out."""
        places = self._tool().places
        for key, value in self.call.args.items():
            if key in places or not EXTRA.search(text) or not names(text, key):
                continue
            others = {name: each for name, each in self.call.args.items() if name != key}
            best = nearest(key, [name for name in places if name not in others])
            return self._with_args(others if best is None else {**others, best: value})
        return None

    def _wait(self, text: str) -> Step:
        seconds = waiting(text)
        if seconds is None:
            return None
        if seconds > PATIENCE_S:
            return "tell"
        self.waits(max(0.0, seconds))
        return self.call

    def _give_up(self, text: str) -> Step:
        return "tell" if TERMINAL.search(text) else None

    def _say_it_otherwise(self, text: str) -> Step:
        """What the text finds wrong, in another way that the user's words allow."""
        for place, value in self._meant(text, text):
            if names(text, place) or str(value) in text:
                step = self._with_form(place, _none_of(self.tried.get(place, [])))
                if step != "ask":
                    return step
        return None

    def _ask_at_last(self, text: str) -> Step:
        return "ask" if asking(text) == "in a case" else None

    def _repeat(self, text: str) -> Step:
        return self.call if AGAIN.search(text) else None

    def _covered(self) -> list[str]:
        wanted = {*self.part.covers, *(call.name for call in self.part.plan)}
        return [name for name in self.tools if name in wanted]

    def _tool(self) -> Tool:
        return self.tools[self.call.name]

    def _known(self, tool: Tool) -> dict[str, Any] | None:
        """The tool's arguments as the user's words give them, if they give what it requires."""
        facts = {name: self.part.facts[name][0] for name in tool.places if name in self.part.facts}
        return facts if tool.required <= set(facts) else None

    def _are_arguments(self, data: Mapping[str, Any]) -> bool:
        known = self.call.name in self.tools and isinstance(self.call.args, dict) and bool(data)
        return known and set(data) <= set(self._tool().places)

    def _keeps_facts(self, args: Mapping[str, Any]) -> bool:
        return all(self._keeps_fact(leaf(place), value) for place, value in flat(args).items())

    def _keeps_fact(self, name: str, value: Any) -> bool:
        """Whether the value is what the user said, or, where nobody fixed it, another number."""
        forms = self.part.facts.get(name)
        if forms is None or any(near(value, form) >= 0.6 for form in forms):
            return True
        are_numbers = None not in (as_number(value), as_number(forms[0]))
        return are_numbers and name not in self.part.firm

    def _meant(self, sentence: str, text: str) -> list[tuple[str, Any]]:
        """The arguments that a sentence names, or the text names or repeats; else, any."""
        args = flat(self.call.args)
        for where in (sentence, text):
            named = [(place, value) for place, value in args.items() if names(where, place)]
            if named:
                return named
        repeated = [
            (place, value)
            for place, value in args.items()
            if len(str(value)) > 1 and str(value) in text
        ]
        return repeated or list(args.items())

    def _holds(self, place: str) -> bool:
        """Whether something stands below this place."""
        return any(other.startswith(f"{place}.") for other in flat(self.call.args))

    def _with_args(self, args: Mapping[str, Any]) -> Call:
        return Call(self.call.name, dict(args), self.call.meant)

    def _with(self, place: str, value: Any) -> Call:
        args: dict[str, Any] = json.loads(json.dumps(self.call.args))
        inner: Any = args
        *before, name = place.split(".")
        for key in before:
            inner = inner[int(key)] if isinstance(inner, list) else inner.setdefault(key, {})
        inner[int(name) if isinstance(inner, list) else name] = value
        return self._with_args(args)

    def _with_form(self, place: str, is_right: Callable[[Any], bool]) -> Step:
        forms = [form for form in self.part.facts.get(leaf(place), ()) if is_right(form)]
        return self._with(place, forms[0]) if forms else "ask"


def is_done(text: str) -> bool:
    """Whether a tool of these tasks says that it has done its work."""
    return re.search(r"\bDone: |\"done\": ?true", text) is not None


def leaf(place: str) -> str:
    """The name at the end of a place."""
    return place.rsplit(".", 1)[-1]


def flat(args: Any, before: str = "") -> dict[str, Any]:
    """Arguments by place: `order.lines.0.qty`. What is no JSON has none."""
    if isinstance(args, str):
        return {}
    found: dict[str, Any] = {}
    for key, value in args.items() if isinstance(args, dict) else enumerate(args):
        if isinstance(value, dict | list) and value:
            found |= flat(value, f"{before}{key}.")
        else:
            found[f"{before}{key}"] = value
    return found


def _said(tool: Tool, text: str) -> int:
    """How plainly a text means this tool: its very name, its name's words, or some of its words."""
    said, name = stems(text), _single(tool.name)
    if re.search(rf"\b{re.escape(tool.name)}\b", text):
        return 100
    if name <= said:
        return 50
    shared = len((_single(tool.description) | name) & said)
    return shared if shared >= 2 else 0


def _single(text: str) -> set[str]:
    """The stems of a text without those of two words together."""
    return {stem for part in re.findall(r"[A-Z]?[a-z]+", text) for stem in stems(part)}


def _beyond(number: float | None, low: float | None, high: float | None) -> float | None:
    """The bound that a number breaks."""
    if number is None:
        return None
    if low is not None and number < low:
        return low
    return high if high is not None and number > high else None


def _no_longer_than(most: float) -> Callable[[Any], bool]:
    return lambda form: len(str(form)) <= most


def _none_of(tried: Sequence[Any]) -> Callable[[Any], bool]:
    return lambda form: form not in tried
