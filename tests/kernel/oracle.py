"""Whether a call may run unasked where another was written: naive, slow, and by another hand.

It follows the laws one by one and tries every way in which what was written could be what runs.
It knows no margin and no price, and where a law leaves room it says yes: what it calls lossy
nobody may call exact or inferred. For small schemas alone: its time grows with the factorial.
"""

from __future__ import annotations

import ast
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from random_calls import same

from selfcorrect.tools import ToolSpec

AROUND_ALL = ("arguments", "args", "parameters", "params", "input", "kwargs", "properties")
AROUND_ONE = ("value", "items")
PREFIXES = ("functions", "function", "tools", "tool", "default_api", "api")
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMBER_WORDS = {word: Decimal(number) for number, word in enumerate(NUMBERS)}
TRUE, FALSE = ("true", "yes", "on", "1", "y", "t"), ("false", "no", "off", "0", "n", "f")
NOTHING = ("none", "null", "nil", "n/a", "")
MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
SIGNS = {"$": "dollars usd", "€": "euro euros eur", "£": "pounds gbp", "%": "percent percentage"}
UNITS = {"usd": "dollars", "dollars": "usd", "s": "seconds", "sec": "seconds", "min": "minutes"}
DEEPEST = 8


def may_run(written: tuple[str, Any], runs: tuple[str, Any], tools: Sequence[ToolSpec]) -> bool:
    """Whether the laws let one be run, exact or inferred, where the other was written."""
    tool = next((each for each in tools if each.name == runs[0]), None)
    if tool is None or not _is_name(written[0], runs[0], [each.name for each in tools]):
        return False
    one = _Place(tool.schema, acts=tool.effect != "read_only")
    return any(one.is_object(args, runs[1]) for args in _unwrapped(written[1], tool))


def words(text: str) -> list[str]:
    """Words after case and separators."""
    text = unicodedata.normalize("NFC", text)
    text = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text)
    return re.findall(r"[^\W_]+", text.lower())


def distance(one: str, other: str) -> int:
    """Letters added, lost, changed, or exchanged with their neighbour."""
    rows = [list(range(len(other) + 1))]
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            best = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                best = min(best, rows[-2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]


def _is_name(written: str, runs: str, offered: Sequence[str]) -> bool:
    """Law 5."""
    if written in offered:
        return written == runs
    if re.search(r"[^\w.:/\-\s]", written):
        return False
    if _words_of_name(written) == words(runs):
        return True
    near = sorted((distance(written.lower(), each.lower()), each) for each in offered)
    is_only = len(near) == 1 or near[0][0] < near[1][0]
    return is_only and near[0][1] == runs and _is_slip(words(written), words(runs))


def _words_of_name(written: str) -> list[str]:
    head, mark, rest = written.partition(".")
    return words(rest) if mark and head in PREFIXES else words(written)


def _is_slip(written: Sequence[str], known: Sequence[str]) -> bool:
    """Near in letters, with no word more, less or exchanged."""
    one, other = "".join(written), "".join(known)
    if len(written) != len(known):
        return distance(one, other) <= 1 and abs(len(one) - len(other)) <= 1
    return all(
        distance(a, b) <= (max(len(a), len(b)) // 3 if min(len(a), len(b)) > 3 else 0)
        for a, b in zip(written, known, strict=True)
    )


def loaded(value: Any) -> Iterator[Any]:
    """The value, and what stands in it where it is JSON."""
    for _ in range(DEEPEST):
        yield value
        if not isinstance(value, str):
            return
        try:
            value = json.loads(value, object_pairs_hook=_once)
        except ValueError:
            try:
                value = ast.literal_eval(value.strip())
            except (ValueError, SyntaxError):
                return
        if not isinstance(value, str | list | dict):
            return


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("two values for one key")
    return made


def _unwrapped(args: Any, tool: ToolSpec) -> Iterator[Any]:
    """The arguments, and what stands in a wrapper around all of them."""
    for value in loaded(args):
        yield value
        if isinstance(value, dict) and len(value) == 1:
            ((key, inner),) = value.items()
            is_known = key in tool.schema["properties"]
            if not is_known and (key.lower() in AROUND_ALL or words(key) == words(tool.name)):
                yield from _unwrapped(inner, tool)


class _Place:
    """Laws 0 to 3 for one object and its schema."""

    def __init__(self, schema: Mapping[str, Any], *, acts: bool) -> None:
        self.known = schema.get("properties", {})
        self.needed = schema.get("required", ())
        self.acts = acts

    def is_object(self, written: Any, runs: Any) -> bool:
        """Whether each key and value of the one is a key and value of the other."""
        if not isinstance(runs, dict):
            return False
        if isinstance(written, dict):
            return any(self._is_paired(each, runs) for each in self._leveled(written))
        return isinstance(written, list) and len(written) == 1 and self.is_object(written[0], runs)

    def _leveled(self, written: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """As written; and with fields of an object that stood one level too high, or flat."""
        yield written
        own = [words(key) for key in self.known]
        for outer, schema in self.known.items():
            inner = schema.get("properties")
            moved = {
                key: name
                for key in written
                for name in inner or ()
                if words(key) not in own and words(key) in (words(name), words(f"{outer} {name}"))
            }
            if moved:
                rest = {key: value for key, value in written.items() if key not in moved}
                below = rest.get(outer, {})
                if isinstance(below, dict) and not set(moved.values()) & below.keys():
                    yield rest | {outer: below | {moved[key]: written[key] for key in moved}}

    def _is_paired(self, written: dict[str, Any], runs: dict[str, Any]) -> bool:
        left, open_keys = dict(runs), []
        for key, value in written.items():
            if key in self.known and _fits(value, self.known[key]):
                if key not in left or not same(value, left.pop(key)):
                    return False
            elif key in self.known and key in left:
                if not self.is_value(value, left.pop(key), self.known[key], key, key):
                    return False
            elif not self._is_said_twice(key, written, runs):
                open_keys.append(key)
        return self._is_assigned(written, open_keys, left)

    def _is_said_twice(self, key: str, written: dict[str, Any], runs: dict[str, Any]) -> bool:
        known = (each for each in runs if words(key) == words(each) and each in written)
        return any(each != key and same(written[key], runs[each]) for each in known)

    def _is_assigned(
        self, written: Mapping[str, Any], keys: list[str], left: dict[str, Any]
    ) -> bool:
        """Tries every way to give the rest of the keys a place."""
        if not keys:
            return all(self._is_given(key, value) for key, value in left.items())
        key, *rest = keys
        value = written[key]
        if self._is_nothing(key, value) and self._is_assigned(written, rest, left):
            return True
        for place in [*left]:
            if self._is_key(key, place, written) and self.is_value(
                value, left[place], self.known[place], place, key
            ):
                others = {name: each for name, each in left.items() if name != place}
                if self._is_assigned(written, rest, others):
                    return True
        return False

    def _is_given(self, key: str, value: Any) -> bool:
        """Whether the schema says what a required parameter is that nobody wrote."""
        schema = self.known[key]
        said = [schema[word] for word in ("const", "default") if word in schema]
        return key in self.needed and any(same(value, each) for each in said)

    def _is_nothing(self, key: str, value: Any) -> bool:
        is_empty = value is None or value in ("", [], {})
        is_word = isinstance(value, str) and value.strip().lower() in NOTHING
        return key not in self.needed and (is_empty or is_word)

    def _is_key(self, key: str, place: str, written: Mapping[str, Any]) -> bool:
        """Law 2."""
        if place not in self.known or key in self.known:
            return False
        if words(key) in (words(place), ["param", *words(place)], ["params", *words(place)]):
            return True
        if any(words(key) == words(each) for each in self.known) or place in written:
            return False
        if not self.acts and set(words(key)) < set(words(place)):
            return True
        nearest = min(distance(key.lower(), each.lower()) for each in self.known)
        if distance(key.lower(), place.lower()) > nearest:
            return False
        if self.acts:
            return _is_slip(words(key), words(place))
        return nearest <= len(place) // 2

    def is_value(self, written: Any, runs: Any, schema: Any, key: str, said: str) -> bool:
        """Law 1: whether a value is the other one, or a spelling of it."""
        if same(written, runs):
            return True
        ways = schema.get("anyOf", ())
        if ways and not (key == said and _fits(written, schema)):
            return any(self.is_value(written, runs, way, key, said) for way in ways)
        if key == said and _fits(written, schema):
            return False
        inner = [each for each in _opened(written, schema, key) if each is not written]
        if any(self.is_value(each, runs, schema, key, "") for each in inner):
            return True
        if isinstance(runs, list):
            return self._is_list(written, runs, schema.get("items", {}), key)
        if isinstance(runs, dict):
            return _Place(schema, acts=self.acts).is_object(written, runs)
        return is_spelling(written, runs, schema, [*words(key), *words(said)])

    def _is_list(self, written: Any, runs: list[Any], schema: Any, key: str) -> bool:
        """Items in their order; a text that holds them, or one that is the only item."""
        ways = [written] if isinstance(written, list) else [[written]]
        if isinstance(written, str) and not any(isinstance(each, list) for each in loaded(written)):
            bare = written.strip().removeprefix("[").removesuffix("]")
            ways += [
                [
                    item.strip().removeprefix("- ").strip("'\"")
                    for item in bare.split(mark)
                    if item.strip()
                ]
                for mark in (",", ";", "\n", "|", " and ", " ")
            ]
        return any(
            len(way) == len(runs)
            and all(self.is_value(a, b, schema, key, "") for a, b in zip(way, runs, strict=True))
            for way in ways
        )


def _opened(value: Any, schema: Mapping[str, Any], name: str) -> Iterator[Any]:
    """What a value is, out of a text, a list of one, or a wrapper around it."""
    for each in loaded(value):
        yield each
        if isinstance(each, list) and len(each) == 1 and schema.get("type") != "array":
            yield each[0]
        if isinstance(each, dict):
            for key in each:
                is_known = key in AROUND_ONE or words(key) == words(name)
                is_alone = set(each) in ({key}, {key, "type"})
                if is_known and is_alone and key not in schema.get("properties", {}):
                    yield each[key]


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    given = {"name": "x", "parameters": {"type": "object", "properties": {"x": schema}}}
    return ToolSpec.from_schema(given).is_valid({"x": value})


def is_spelling(written: Any, runs: Any, schema: Mapping[str, Any], about: list[str]) -> bool:
    """Whether one scalar is another in a spelling of the table."""
    if isinstance(written, dict | list) or isinstance(runs, dict | list):
        return False
    if runs is None:
        return isinstance(written, str) and written.strip().lower() in NOTHING
    if isinstance(runs, bool) or isinstance(written, bool):
        return _is_boolean(written, runs)
    if isinstance(runs, int | float):
        return isinstance(written, str) and _is_number(written, runs, schema, about)
    if isinstance(written, int | float):
        plain = str(int(written)) if written == int(written) else str(written)
        return runs.strip() in (str(written), plain)
    if not isinstance(written, str):
        return False
    if _doubts(written) - _doubts(runs):
        return False
    if unicodedata.normalize("NFC", written.strip()) == unicodedata.normalize("NFC", runs):
        return True
    if "enum" in schema:
        return _is_listed(written, runs, schema["enum"], about)
    return schema.get("format") == "date" and _is_date(written, runs)


def _doubts(text: str) -> set[str]:
    return {*"?!~<>=*±²"} & {*text}


def _is_boolean(written: Any, runs: Any) -> bool:
    one, other = (str(each).strip().lower() for each in (written, runs))
    return any(one in group and other in group for group in (TRUE, FALSE))


def _decimal(text: str) -> Decimal | None:
    text = text.strip().removeprefix("+")
    if re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d+)?", text):
        text = text.replace(",", "")
    elif re.fullmatch(r"-?\d+,\d+", text):
        text = text.replace(",", ".")
    if not text.isascii() or not re.fullmatch(r"-?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", text):
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _is_number(written: str, runs: Any, schema: Mapping[str, Any], about: list[str]) -> bool:
    """The same number, alone or with words that its name or its schema says."""
    wanted = Decimal(str(runs))
    if _decimal(written) == wanted or NUMBER_WORDS.get(written.strip().lower()) == wanted:
        return True
    text = written
    for sign, said in SIGNS.items():
        text = text.replace(sign, f" {said.split()[0]} ")
    found = re.findall(r"[-+]?[\d][\d.,]*|[^\W\d_]+", text)
    numbers = [each for each in found if each[-1].isdigit()]
    allowed = {*about, *words(schema.get("description", ""))}
    rest = [each.lower() for each in found if each not in numbers]
    is_known = all(each in allowed or UNITS.get(each) in allowed for each in rest)
    return len(numbers) == 1 and is_known and bool(rest) and _decimal(numbers[0]) == wanted


def _is_listed(written: str, runs: str, listed: Sequence[Any], about: list[str]) -> bool:
    """The same words as one listed value alone, or with words of the parameter beside them."""
    said = words(written)
    fitting = [each for each in listed if "".join(words(str(each))) == "".join(said)]
    if fitting or [each for each in listed if str(each).casefold() == written.casefold()]:
        folded = [each for each in listed if str(each).casefold() == runs.casefold()]
        return (fitting == [runs] or not fitting) and folded == [runs] and _folds(written, runs)
    left = list(said)
    for word in words(runs):
        if word not in left:
            return False
        left.remove(word)
    return bool(left) and all(word in about or word.rstrip("s") in about for word in left)


def _folds(written: str, runs: str) -> bool:
    is_same = "".join(words(written)) == "".join(words(runs))
    return is_same or written.strip().casefold() == runs.casefold()


def _is_date(written: str, runs: str) -> bool:
    """Year, month and day stand there, each once, in the one order that can be meant."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", runs):
        return False
    year, month, day = map(int, runs.split("-"))
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return False
    text = re.sub(r"[tT ]00:00(:00)?(\.0+)?[zZ]?$", "", written.strip())
    text = re.sub(r"^(\d{4})(\d\d)(\d\d)$", r"\1-\2-\3", text)
    found = re.findall(r"\d+|[^\W\d_]+", text.lower())
    named = [n for n in found if len(n) >= 3 and MONTHS[month - 1].startswith(n)]
    numbers = [int(each) for each in found if each.isdigit()]
    others = {"st", "nd", "rd", "th", "of", "mon", "tue", "wed", "thu", "fri", "sat", "sun"}
    if any(not n.isdigit() and n not in others and n not in named for n in found):
        return False
    years = (year, year % 100)
    if len(named) == 1:
        return sorted(numbers) in ([*sorted([each, day])] for each in years)
    if named or len(numbers) != 3:
        return False
    a, b, c = numbers
    if a == year:
        return (b, c) == (month, day)
    is_one = a > 12 or b > 12 or a == b
    return c in years and is_one and (a, b) in ((month, day), (day, month))
