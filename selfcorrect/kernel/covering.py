"""Whether a text is the values that were read from it, and tokens of its form: nothing else.

The values go through the text in order. What stands between them may be brackets, quotes and
separators; any other sign or word was said and would be lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from html import unescape
from typing import Final

from selfcorrect.kernel.forms import OPENING
from selfcorrect.model import JSON, JsonObject, Safety
from selfcorrect.plain import one_value
from selfcorrect.text import spelling

WRAPPERS: Final = frozenset(
    {"args", "argument", "arguments", "body", "data", "function_args", "input", "inputs", "kwargs"}
    | {"parameters", "params", "payload", "request", "tool_args", "tool_input", "action_input"}
    | {"properties", "function_arguments"}
)
"""Keys around all arguments that say no more than that (K1, and what providers write)."""
WRAPPING: Final = frozenset(map(spelling, WRAPPERS))
_LANGUAGES: Final = frozenset(
    {"", "json", "json5", "jsonc", "python", "py", "javascript", "js", "xml", "yaml", "text"}
    | {"tool_call", "tool_code", "plaintext"}
)
_STRUCTURE: Final = frozenset("{}[]():=,;\"'`\\\ufeff\u201c\u201d\u2018\u2019\uff1a\uff0c")
_CLOSER: Final = {"{": "}", "[": "]", "(": ")"}
_FENCE: Final = re.compile(r"`{3,}(?P<language>[\w-]*)")
_WORD: Final = re.compile(r"[^\W\d][\w.-]*")
_TAG: Final = re.compile(r"</?(?P<word>[\w-]{1,40})>")
_PREFIX: Final = re.compile(r"[rRuUbB]{1,2}(?=[\"'])")
_COMMENT: Final = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?(?:\*/|\Z)|<!--.*?(?:-->|\Z)", re.DOTALL)
_NUMBER: Final = re.compile(
    r"[+-]?(?:0[xob][0-9a-f_]+|\d[\d_]*\.?\d*(?:e[+-]?\d{1,4})?|\.\d+(?:e[+-]?\d{1,4})?)",
    re.ASCII | re.IGNORECASE,
)
_CONSTANTS: Final = {
    True: re.compile("true", re.IGNORECASE),
    False: re.compile("false", re.IGNORECASE),
    None: re.compile("null|none|undefined", re.IGNORECASE),
}
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_ENTITY: Final = re.compile(r"&(?:amp|lt|gt|quot|apos|#39|#34);")
_SHOWN: Final = 60
_NEAR: Final = 20


@dataclass(frozen=True, slots=True)
class Cover:
    """What comes of laying values over a text.

    Attributes:
        safety: How certain it is that the text says just this; None if more or less is said.
        left: What of the text is none of the values, from where it begins.
    """

    safety: Safety | None
    left: str = ""


def covers(text: str, value: JSON, *, acts: bool, name: str = "") -> Cover:
    """Lay the keys and scalars of a value over a text, in their order.

    Args:
        text: What was written.
        value: What was read from it.
        acts: Whether the tool may change something: a comment is then content.
        name: The tool's name, which may stand before the arguments: `pay(to="ann")`.

    >>> covers("{'to': 'ann', amount: 5,}", {"to": "ann", "amount": 5}, acts=True).safety.value
    'exact'
    >>> covers('{"to": "ann"} but only if bob agrees', {"to": "ann"}, acts=True).left
    'but only if bob agrees'
    """
    # What is strictly valid says one thing; what is read of it is that, or another thing.
    strict = loaded(text)
    if type(strict) is type(value):
        is_said = equal(strict, value)
        return Cover(Safety.EXACT) if is_said else Cover(None, text[:_SHOWN].strip())
    cursor = _Cursor(text, acts=acts, name=name)
    said = cursor.lay(value)
    if said and cursor.rest():
        # The same arguments written again, whole, say nothing more.
        cursor.loose = True
        again = cursor.closed and cursor.lay(value) and not cursor.rest()
        said = again or (not value and cursor.at == len(text))
    return cursor.cover(said)


def covers_calls(text: str, calls: Sequence[tuple[str, JsonObject]], *, acts: bool) -> Cover:
    """Lay names and arguments over calls in code, or in the tags of a model's own form.

    >>> covers_calls("<pay><to>ann</to></pay>", [("pay", {"to": "ann"})], acts=True).safety.value
    'exact'
    >>> covers_calls("pay(to='ann', refund=1)", [("pay", {"to": "ann"})], acts=True).left
    'refund=1)'
    """
    cursor = _Cursor(text, acts=acts, name="")
    keys = [key for _, args in calls for key, is_key in _atoms(args) if is_key]
    cursor.tags = frozenset([*keys, *(name for name, _ in calls)])
    said = all(cursor.name_past(name) and cursor.lay(args) for name, args in calls)
    return cursor.cover(said and not cursor.rest())


class _Cursor:
    """A place in a text, and what was noticed on the way there."""

    def __init__(self, text: str, *, acts: bool, name: str) -> None:
        self.text, self.acts, self.name = text, acts, name
        self.at, self.loose, self.parted = 0, False, True
        self.open: list[str] = []
        self.nested = self.last = ""
        self.shifted = self.stray = self.closed = False
        self.reopened, self.assigned, self.begun = 0, False, False
        self.tags: frozenset[JSON] = frozenset()
        self.tagged = self.opened = False

    def cover(self, is_said: bool) -> Cover:
        """What comes of it, where all was said or not."""
        if not is_said or self.is_amiss:
            return Cover(None, self.text[self.at :][:_SHOWN].strip())
        return Cover(Safety.INFERRED if self.loose or self.open else Safety.EXACT)

    def lay(self, value: JSON) -> bool:
        """Go past all keys and scalars of a value; False where one does not stand there."""
        nested, self.nested = "", ""
        is_first, is_placed = True, False
        for atom, is_key in _atoms(value):
            if isinstance(atom, _Bracket):
                nested += atom.sign
                continue
            start, before = self.at, self.nested
            self.assigned = False
            end = self._find(atom)
            # Arguments of a call may go by position: such a value has no key.
            if end is None and is_key and (self.name or self.tags):
                self.at, self.nested, self.loose, is_placed = start, before, True, True
                continue
            # Where a key was written, it is the key of that value and no other.
            if (
                end is None
                or (is_placed and self.assigned)
                or not (is_first or self._is_nested(nested))
            ):
                return False
            is_bare = isinstance(atom, str) and not self._is_sure(atom, end, is_key=is_key)
            # Without a separator before it, or quotes around it, more than one reading is near.
            self.loose |= not self.parted or (is_bare and atom != "")
            self.at, self.parted, is_first, is_placed = end, is_key, False, False
            self.begun = True
            nested, self.nested = "", ""
        self.last = nested
        return True

    def name_past(self, name: str) -> bool:
        """Go past the name of a call; False where it does not stand there."""
        end = self._find(name)
        self.at = end or self.at
        self.tagged |= self.text[self.at : self.at + 1] == ">"
        return end is not None

    def _ends_as(self, wanted: str) -> bool:
        """Whether the text ends with these brackets, but for closers."""
        # The arguments of a form need no bracket of their own.
        wanted = wanted if not self.tags or self.nested == wanted else wanted.removesuffix("}")
        wanted = "" if wanted == "{" else wanted
        self.loose |= self.nested != wanted
        return _CLOSERS.sub("", self.nested) == _CLOSERS.sub("", wanted)

    def _is_nested(self, wanted: str) -> bool:
        """Whether the brackets since the last value are those that the value has there."""
        if self.nested == wanted:
            return True
        self.loose = True
        # Inside, a closer may be missing on tools that read, and one list may be closed that
        # nothing opened (`"points": [1, 2], [3, 4]]`); no other object or list comes or goes.
        found, asked = _CLOSERS.sub("", self.nested), _CLOSERS.sub("", wanted)
        if found == asked and not self.acts:
            self.shifted = True
            return True
        self.reopened += 1
        self.opened |= found == f"[{asked}"
        return self.reopened == 1 and (asked == f"[{found}" or self.opened)

    @property
    def is_amiss(self) -> bool:
        """Whether the nesting is another one, though every bracket has its closer."""
        is_moved = self.shifted and not self.stray
        # A list that the value has not was opened, and closed as well.
        return (self.opened or is_moved) and not self.open

    def rest(self) -> bool:
        """Whether anything but structure stands behind the cursor."""
        self.closed = not self.open
        while self.at < len(self.text):
            end = self._past(self.at)
            if end is None:
                return True
            self.closed |= not self.open
            self.at = end
        return not self._ends_as(self.last)

    def _find(self, atom: JSON) -> int | None:
        """Where an atom ends, if only structure stands before it."""
        while True:
            end = self._match(atom)
            if end is not None:
                return end
            past = self._past(self.at) if self.at < len(self.text) else None
            if past is None:
                return None
            self.at = past

    def _match(self, atom: JSON) -> int | None:
        text, at = self.text, self.at
        if isinstance(atom, str):
            end = _string_end(text, at, atom)
            return end if end is not None and self._is_whole(atom, end) else None
        if atom is None or isinstance(atom, bool):
            found = _CONSTANTS[atom].match(text, at)
        else:
            found = _NUMBER.match(text, at)
            if found is not None and not _is_number(found[0], atom):
                return None
        if found is None or text[found.end() : found.end() + 1].isalnum():
            return None
        return found.end()

    def _is_whole(self, atom: str, end: int) -> bool:
        """Whether a text that ends here is not the beginning of a longer one."""
        before, behind = self.text[self.at - 1 : self.at], self.text[end : end + 1]
        if before in _PAIRS and self.at:
            # A quote inside a text that nothing escapes could as well be its end.
            is_plain = self.text.startswith(atom, self.at) and not self.text.endswith(
                before * 3, 0, self.at
            )
            self.loose |= _PAIRS[before] in atom and is_plain
            return behind in ("\\", _PAIRS[before])
        return not (atom[-1:].isalnum() and behind.isalnum())

    def _is_sure(self, atom: str, end: int, *, is_key: bool) -> bool:
        """Whether a key or a text stands there in one reading only."""
        if is_key:
            return not atom.isdigit() or self.text[end : end + 1] in _QUOTES
        # A backslash that escapes nothing is one, or was to be none.
        raw = "\\" in atom and self.text.startswith(atom, end - len(atom))
        odd = raw or "\\_" in self.text[self.at : end]
        if self.text[end : end + 1] in _QUOTES:
            return not odd
        # A tag shows where a text ends, too.
        return bool(self.tags) and self.text[end : end + _NEAR].lstrip().startswith("</")

    def _past(self, at: int) -> int | None:
        """Behind one token of structure, or None where something else stands."""
        text = self.text
        sign = text[at]
        if self.tags and (end := self._past_form(at)):
            return end
        if sign.isspace() or sign in _STRUCTURE:
            if sign == "`" and (fence := _FENCE.match(text, at)) is not None:
                return fence.end() if fence["language"].lower() in _LANGUAGES else None
            self._nest(sign)
            # An escaped line end between values is one: the text was escaped once too often.
            return at + 2 if sign == "\\" and text[at + 1 : at + 2] in ("n", "t", "r") else at + 1
        prefix = _PREFIX.match(text, at)
        if prefix is not None and (at == 0 or text[at - 1] not in _QUOTES):
            return prefix.end()
        if not self.acts and (comment := _COMMENT.match(text, at)) is not None:
            self.loose = True
            return comment.end()
        tag = _TAG.match(text, at)
        if tag is not None:
            known = spelling(tag["word"]) in WRAPPING or tag["word"] in _LANGUAGES
            return tag.end() if known else None
        word = _WORD.match(text, at)
        if word is None:
            return None
        behind = text[word.end() :].lstrip(" \t\"'")[:1]
        is_label = not self.begun and spelling(word[0]) in WRAPPING and behind in (":", "=", "{")
        is_name = self.name != "" and word[0] == self.name and behind in ("(", ":", "{")
        return word.end() if is_label or is_name else None

    def _past_form(self, at: int) -> int:
        """Behind a token of a form, or a tag of a name or a key; 0 where none stands."""
        text = self.text
        if text[at] == ">" and self.tagged:
            self.tagged = False
            return at + 1
        if (tag := _TAG.match(text, at)) is not None and tag["word"] in self.tags:
            self.parted, self.tagged = True, text[at + 1] != "/"
            return at + 1 if self.tagged else tag.end()
        token = OPENING.match(text, at)
        if token is None or token.end() == at:
            return 0
        self.parted = True
        self.tagged |= token[0][-1] != ">"
        return token.end()

    def _nest(self, sign: str) -> None:
        if self.tags and ((sign == "(" and not self.open) or (sign == ")" and self.open == [")"])):
            pass  # around the arguments of a call in code
        elif sign in "{[(}])":
            self.nested += _SAME.get(sign, sign)
        if sign in _CLOSER:
            self.open.append(_CLOSER[sign])
        elif sign in ")]}":
            # A closer that nothing opened, or another's: the nesting is a reading, not a spelling.
            if self.open[-1:] == [sign]:
                self.open.pop()
            else:
                self.loose = self.stray = True
        # Two values need a sign between them.
        self.loose |= sign in "{[" and not self.parted
        if sign in ",;:={[(":
            self.parted = True
        self.assigned |= sign in ":="
        # A colon behind the name of an argument is no code: somebody may describe it.
        self.loose |= bool(self.tags) and sign == ":" and self.open == [")"]


_PAIRS: Final = {'"': '"', "'": "'", "`": "`", "\u201c": "\u201d", "\u2018": "\u2019"}
_QUOTES: Final = frozenset("\"'`\\\u201d\u2019")


_CLOSERS: Final = re.compile(r"[}\]]")
_SAME: Final = {"(": "[", ")": "]"}


@dataclass(frozen=True, slots=True)
class _Bracket:
    """Where an object or a list begins or ends."""

    sign: str


def _atoms(value: JSON) -> Iterator[tuple[JSON | _Bracket, bool]]:
    """The brackets, keys and scalars of a value in order, and which are keys."""
    stack: list[tuple[JSON | _Bracket, bool]] = [(value, False)]
    while stack:
        item, is_key = stack.pop()
        if is_key or not isinstance(item, dict | list):
            yield item, is_key
        elif isinstance(item, dict):
            pairs = [pair for k, v in reversed(item.items()) for pair in ((v, False), (k, True))]
            stack += [(_Bracket("}"), False), *pairs, (_Bracket("{"), False)]
        else:
            inner = [(one, False) for one in reversed(item)]
            stack += [(_Bracket("]"), False), *inner, (_Bracket("["), False)]


def _is_number(text: str, value: float) -> bool:
    bare = text.replace("_", "")
    try:
        if bare.lstrip("+-")[:2].lower() in ("0x", "0o", "0b"):
            return int(bare, 0) == value
        # Every reader of JSON rounds to the nearest float: that is no other value.
        return float(bare) == value if isinstance(value, float) else Decimal(bare) == value
    except (ValueError, InvalidOperation):
        return False


def _string_end(text: str, at: int, wanted: str) -> int | None:
    """Where a string ends that begins at a place, plain or with escapes; None if another stands."""
    if text.startswith(wanted, at):
        return at + len(wanted)
    place = 0
    while place < len(wanted):
        if at >= len(text):
            return None
        found, step = _sign_at(text, at)
        if not found:  # a line that goes on
            at += step
            continue
        if wanted[place : place + len(found)] != found:
            return None
        place, at = place + len(found), at + step
    return at


def _sign_at(text: str, at: int) -> tuple[str, int]:
    """The sign that stands at a place, with its escape, and how long that is."""
    sign = text[at]
    if sign == "&" and (entity := _ENTITY.match(text, at)) is not None:
        return unescape(entity[0]), len(entity[0])
    if sign != "\\" or at + 1 == len(text):
        return sign, 1
    code = text[at + 1]
    if code == "\n":
        return "", 2
    if code in "uxU":
        size = {"u": 4, "x": 2, "U": 8}[code]
        digits = text[at + 2 : at + 2 + size]
        try:
            number = int(digits, 16)
            if 0xD800 <= number < 0xDC00 and text[at + 6 : at + 8] == "\\u":
                low = int(text[at + 8 : at + 12], 16)
                return chr(0x10000 + ((number - 0xD800) << 10) + (low - 0xDC00)), 12
            return chr(number), 2 + size
        except (ValueError, OverflowError):
            return sign, 1
    return _ESCAPES.get(code, code), 2


def loaded(value: JSON) -> JSON:
    """The value of a text that is strictly valid JSON; any other value as it is.

    Two values for one key are no value: whichever ran, the other would be lost.
    """
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
        return value
    try:
        return json.loads(value, object_pairs_hook=one_value)
    except (ValueError, RecursionError):
        return value


def equal(one: JSON, other: JSON) -> bool:
    """Whether two values are one JSON value; `True` is not 1, and 5 is not 5.0."""
    kind = type(one)
    if kind is not type(other):
        return False
    if kind is dict:
        return one.keys() == other.keys() and all(equal(v, other[k]) for k, v in one.items())
    if kind is list:
        return len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other)
