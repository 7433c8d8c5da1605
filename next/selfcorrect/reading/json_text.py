"""Reads the JSON that a model wrote, and records everything that strict JSON would not allow.

Python's notation, other quotes, commas, comments and missing closers are read. What may be cut
off is never completed, and nothing is computed.
"""

import json
import keyword
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from selfcorrect.model import JSON, JsonDict

NOTATION: Final = frozenset(
    ("quote", "word", "number", "comma", "tuple", "escape", "key", "colon", "control")
)
"""The kinds that leave no doubt about the value."""
CLOSERS: Final = frozenset(("closer", "inner closer"))
"""The kinds that stand for a closer that is missing at the end of the text."""
MAX_DEPTH: Final = 60


class JsonTextError(ValueError):
    """The text is no value, or its value is not certain; the message says why."""


@dataclass(frozen=True, slots=True)
class JsonText:
    """A value that was read.

    Attributes:
        value: The value.
        skipped: What strict JSON would not allow, by kind.
    """

    value: JSON
    skipped: tuple[str, ...] = ()


def read_json_text(text: str) -> JsonText:
    """Read a text that is one value and nothing else.

    >>> read_json_text("{'a': True,}")
    JsonText(value={'a': True}, skipped=('quote', 'word', 'comma'))

    Raises:
        JsonTextError: If the text is not one value.
    """
    try:
        value = _STRICT.decode(text)
    except (ValueError, RecursionError):
        scanner = Scanner(text)
        value = scanner.value()
        scanner.end()
        return JsonText(value, tuple(scanner.skipped))
    _check_depth(text, value)
    return JsonText(value)


@dataclass(slots=True)
class Scanner:
    """Reads values one after another, and records what it skips.

    Attributes:
        text: The whole text.
        at: The place that is read next.
        skipped: What strict JSON would not allow, by kind, in order.
        depth: How many containers are open.
        commas: How many commas stood before the last closer or part.
    """

    text: str
    at: int = 0
    skipped: list[str] = field(default_factory=list)
    depth: int = 0
    commas: int = 0

    def value(self) -> JSON:
        """Read the value that begins here.

        Raises:
            JsonTextError: If no value begins here, or it is not certain.
        """
        self.space()
        opening = _OPENING.match(self.text, self.at)
        if opening is None:
            return self._scalar()
        mark = opening[0]
        if mark == "{":
            return self._object()
        if mark in "[(":
            return self._array(mark)
        return self._string(mark)

    def end(self) -> None:
        """Skip closers that nothing opened, up to the end of the text."""
        self.space()
        rest = _EXTRA.match(self.text, self.at)
        self.at = rest.end() if rest else self.at
        if rest and rest[0]:
            self.skipped.append("extra closer")
        if self.peek():
            self.refuse("more text follows the value")

    def peek(self) -> str:
        """Return the next character, or nothing at the end."""
        return self.text[self.at : self.at + 1]

    def space(self) -> None:
        """Skip white space and comments."""
        while found := _SPACE.match(self.text, self.at):
            self.at = found.end()
            if found[1] == "/*":
                self.at = self.text.find("*/", self.at) + 2
                if self.at == 1:
                    self.at = len(self.text)
                    self.refuse("a comment is cut off")
            if not found[1]:
                return
            self.skipped.append("comment")

    def parts(self, close: str) -> Iterator[None]:
        """Yield once for each part of the container that opens here; skip commas and closer."""
        self.at += 1
        self.depth += 1
        self.commas = 0
        if self.depth > MAX_DEPTH:
            self.refuse(f"the value is nested more than {MAX_DEPTH} levels deep")
        self.space()
        if not self.peek():
            self.refuse("the text ends behind an opening bracket")
        more = self.peek() != close
        self.at += not more
        while more:
            yield
            more = self._goes_on(close)
        self.depth -= 1

    def put(self, made: JsonDict, key: str, value: JSON) -> None:
        """Add a value under its key; a second value has to be the same."""
        if key in made and not _same(made[key], value):
            self.refuse(f"the key {key[:40]!r} has two values")
        made[key] = value

    def refuse(self, why: str) -> NoReturn:
        """Raise the reason with the place."""
        raise JsonTextError(f"{why} (character {self.at})")

    def _goes_on(self, close: str) -> bool:
        self.space()
        self.commas = 0
        while self.peek() == ",":
            self.at += 1
            self.commas += 1
            self.space()
        char = self.peek()
        if self.commas > 1 and close != "}":
            self.refuse("a value is missing between two commas")
        if char and char in "]})":
            # A closer of another kind closes a container further out.
            self.skipped += ["comma"] * bool(self.commas) + ["bracket"] * (char != close)
            self.at += char == close
            return False
        if not char:
            if self.commas:
                self.refuse("the text ends behind a comma")
            self.skipped.append("closer" if self.depth == 1 else "inner closer")
            return False
        if not self.commas:
            self.refuse("an expression, or a value without a comma before it")
        self.skipped += ["comma"] * (self.commas > 1)
        return True

    def _object(self) -> JsonDict:
        made: JsonDict = {}
        for _ in self.parts("}"):
            key = self._key()
            self.space()
            mark = self.peek()
            if mark not in (":", "="):
                self.refuse(f"the key {key[:40]!r} has no value")
            self.skipped += ["colon"] * (mark == "=")
            self.at += 1
            self.put(made, key, self.value())
        return made

    def _array(self, mark: str) -> list[JSON]:
        self.skipped += ["tuple"] * (mark == "(")
        made = [self.value() for _ in self.parts("]" if mark == "[" else ")")]
        if mark == "(" and len(made) == 1 and not self.commas:
            self.refuse("parentheses around one value")
        return made

    def _key(self) -> str:
        opening = _OPENING.match(self.text, self.at)
        if opening and opening[0] not in "{[(":
            return self._string(opening[0])
        found = _KEY.match(self.text, self.at)
        if found is None:
            self.refuse("a key is not a text")
        self.skipped.append("key")
        self.at = found.end()
        return found[0]

    def _string(self, mark: str) -> str:
        start = self.at + len(mark)
        if mark == '"':
            plain = _PLAIN.match(self.text, start)
            if plain and self.text[plain.end() : plain.end() + 1] == '"' and plain[0]:
                self.at = plain.end() + 1
                return plain[0]
        else:
            self.skipped.append("quote")
        close = _QUOTES.get(mark, mark)
        self.at = self._string_end(start, close)
        body = self.text[start : self.at - len(close)]
        if not body and self.depth and self.at == len(self.text):
            self.refuse("a text may be cut off")
        if _CONTROL.search(body):
            self.skipped.append("control")
        return self._unescape(body) if "\\" in body and not mark.startswith("<") else body

    def _string_end(self, at: int, close: str) -> int:
        if len(close) > 1:
            at = self.text.find(close, at) + len(close)
            if at < len(close):
                self.refuse("a text is cut off")
            return at
        while True:
            found = _ENDS[close].match(self.text, at)
            if found is None:
                self.refuse("a text is cut off")
            at = found.end()
            if not _APOSTROPHE.match(self.text, at - 1):
                return at
            self.skipped.append("apostrophe")

    def _unescape(self, body: str) -> str:
        codes = {code[1] if len(code) == 2 else "u" for code in _ESCAPE.findall(body)}
        quotes, odd = codes & _ESCAPED_QUOTES, codes - _ESCAPED_QUOTES - _ESCAPES.keys() - {"u"}
        # JSON's letters beside others: `C:\Users\new` has no certain reading.
        if _PYTHON_CODE.search(body) or (odd and codes & {*"bfnrtu\\"}):
            self.refuse("a backslash has no certain meaning")
        self.skipped += ["escape"] * bool(quotes) + ["backslash"] * bool(odd)
        return _ESCAPE.sub(_character, body)

    def _scalar(self) -> JSON:
        if number := _NUMBER.match(self.text, self.at):
            self.at = number.end()
            self._check_whole("a number may be cut off")
            return self._number(number[0])
        found = _WORDS.match(self.text, self.at)
        if found is None:
            self.refuse("no value stands here" if self.peek() else "the text ends before a value")
        self.at = found.end()
        word = found[0]
        self._check_whole("a word may be cut off")
        if word in _CONSTANTS:
            self.skipped += ["word"] * word.istitle()
            return _CONSTANTS[word]
        if not self.depth or _NO_TEXT & {*re.split("[ -]", word)}:
            self.refuse(f"{word[:40]!r} is not a value")
        self.skipped.append("bare text")
        return word

    def _check_whole(self, why: str) -> None:
        if self.depth:
            self.space()
            if not self.peek():
                self.refuse(why)

    def _number(self, digits: str) -> int | float:
        if not _JSON_NUMBER.fullmatch(digits):
            if _ZEROS.match(digits):
                self.refuse("a number begins with zeros")
            self.skipped.append("number")
        try:
            return int(digits) if digits.lstrip("+-").isdigit() else _finite(digits)
        except ValueError:
            self.refuse("a number is too large")


def _character(found: re.Match[str]) -> str:
    code = found[0]
    if len(code) > 2:
        return str(json.loads(f'"{code}"'))
    return code[1] if code[1] in _ESCAPED_QUOTES else _ESCAPES.get(code[1], code)


def _unique(pairs: list[tuple[str, JSON]]) -> JsonDict:
    made = dict(pairs)
    if len(made) != len(pairs) and any(not _same(made[key], value) for key, value in pairs):
        raise JsonTextError("a key has two values")
    return made


def _same(one: JSON, other: JSON) -> bool:
    return type(one) is type(other) and not isinstance(one, dict | list) and bool(one == other)


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise JsonTextError("a number is too large")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise JsonTextError(f"{name} is not JSON")


def _check_depth(text: str, value: JSON) -> None:
    """Refuse a value that is nested too deeply; few brackets need no walk."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        inner = [each.values() if isinstance(each, dict) else each for each in level]
        level = [one for each in inner for one in each if isinstance(one, dict | list)]
        if not level:
            return
    raise JsonTextError(f"the value is nested more than {MAX_DEPTH} levels deep")


_STRICT: Final = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite
)
_SPACE: Final = re.compile(r"\s*+(//[^\n]*|#[^\n]*|/\*|)")
_EXTRA: Final = re.compile(r"[\]})\s;]*")
_OPENING: Final = re.compile(r"""["']{3}(?<=""\"|''')|<\|"\|>|<escape>|["'“”‘{\[(]""")
_QUOTES: Final = {"“": "”", "‘": "’"}
_ENDS: Final = {
    close: re.compile(rf"(?s)[^\\{close}]*+(?:\\.[^\\{close}]*+)*+{close}") for close in "\"'”’"
}
_PLAIN: Final = re.compile(r'[^"\\\x00-\x1f]*+')
_CONTROL: Final = re.compile(r"[\x00-\x1f]")
# Between two letters, where neither an operator nor a second literal of Python follows.
_APOSTROPHE: Final = re.compile(
    rf"(?<=[^\W\d_])['’](?!(?:{'|'.join(keyword.kwlist)})\b|[rbufRBUF]{{1,2}}['\"])[^\W\d_]"
)
_ESCAPE: Final = re.compile(r"(?s)(?:\\u[0-9a-fA-F]{4})+|\\.")
_ESCAPES: Final = {**dict(zip("bfnrt", "\b\f\n\r\t", strict=True)), '"': '"', "\\": "\\", "/": "/"}
_ESCAPED_QUOTES: Final = frozenset("'’‘“”`")
_PYTHON_CODE: Final = re.compile(
    r"(?s)(?<!\\)(?:\\\\)*\\(?:u(?![0-9a-fA-F]{4})|x[0-9a-fA-F]{2}|U[0-9a-fA-F]{8}|N\{|[0-9\n])"
)
_NUMBER: Final = re.compile(
    r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?(?![\w.])"
)
_JSON_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_ZEROS: Final = re.compile(r"[-+]?0[0-9]")
_KEY: Final = re.compile(r"[^\W\d][\w$.\-]*+(?=\s*[:=])")
_WORDS: Final = re.compile(r"[^\W\d_][\w\-]*+(?: [\w\-]++)*+")
_CONSTANTS: Final = {
    "true": True, "false": False, "null": None, "True": True, "False": False, "None": None,
}  # fmt: skip
_NO_TEXT: Final = frozenset((*keyword.kwlist, "NaN", "Infinity", "nan", "inf", "undefined"))
