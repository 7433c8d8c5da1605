"""Whether a text is the values that were read from it, and tokens of its form: nothing else.

The values go through the text in order. What stands between them may be brackets, quotes and
separators; any other sign or word was said and would be lost.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from selfcorrect.kernel.forms import OPENING, WRAPPING
from selfcorrect.kernel.scanning import QUOTES, TAG, Bracket, atoms, scalar_end, structure_end
from selfcorrect.model import JSON, JsonObject, Safety
from selfcorrect.plain import equal, loaded
from selfcorrect.text import spelling

_CLOSER: Final = {"{": "}", "[": "]", "(": ")"}
_CLOSERS: Final = re.compile(r"[}\]]")
_OPENERS: Final = re.compile(r"[{\[(]")
_SAME: Final = {"(": "[", ")": "]"}
_PAIRS: Final = {'"': '"', "'": "'", "`": "`", "\u201c": "\u201d", "\u2018": "\u2019"}
_WORD: Final = re.compile(r"[^\W\d][\w.-]*")
_COMMENT: Final = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?(?:\*/|\Z)|<!--.*?(?:-->|\Z)", re.DOTALL)
_OPEN: Final = re.compile(r"\?|\.\.\.|\u2026|[\"']\s*:")
"""What in a comment leaves something open, or out."""
_SHOWN: Final = 60
_NEAR: Final = 20
GOES_ON: Final = "the arguments are not closed, so more may have followed"


@dataclass(frozen=True, slots=True)
class Cover:
    """What comes of laying values over a text.

    Attributes:
        safety: How certain it is that the text says just this; None if more or less is said.
        left: What of the text is none of the values, from where it begins; `GOES_ON` if nothing,
            but more may have followed.
        missing: How many of the brackets that close the value the text ends without.
        is_open: Whether it ends without any bracket.
    """

    safety: Safety | None
    left: str = ""
    missing: int = 0
    is_open: bool = False

    def goes_on(self, effect: str, ended: bool | None) -> bool:
        """Whether more may have followed; who ended by himself (`ended`) forgot a bracket."""
        if ended or not self.is_open:
            return False
        # Nobody knows: what acts may do less than was meant, and what destroys may do more.
        is_meant = effect == "read_only" or not self.missing
        return ended is False or effect == "destructive" or not is_meant


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
    cursor = _Cursor(text, acts, name)
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
    keys = [key for _, args in calls for key, is_key in atoms(args) if is_key]
    tags = frozenset([*keys, *(name for name, _ in calls)])
    cursor = _Cursor(text, acts, tags=tags)
    said = all(cursor.name_past(name) and cursor.lay(args) for name, args in calls)
    return cursor.cover(said and not cursor.rest())


@dataclass(slots=True)
class _Cursor:
    """A place in a text, and what was noticed on the way there.

    Attributes:
        text: The text.
        acts: Whether the tool may change something.
        name: The tool's name, if it may stand before the arguments.
        tags: The names and keys that may stand in tags, if the text is in a form that has such.
        at: Where the cursor is: all before it is accounted for.
        open: The closers that are still due.
        nested: The brackets since the last key or scalar.
        last: Those that the value has behind its last one.
        loose: Whether a human reads it so, but not every parser.
        parted: Whether a separator stands between the last value and the cursor.
        assigned: Whether `:` or `=` does.
        begun: Whether a value was found.
        tagged: Whether a tag is open up to its `>`.
        closed: Whether all was closed when the values ended.
        framed: Whether a bracket stands before all values.
        opened: Whether the text opened a list that the value has not.
        reopened: How often the text and the value had other brackets.
    """

    text: str
    acts: bool
    name: str = ""
    tags: frozenset[JSON] = frozenset()
    at: int = 0
    open: list[str] = field(default_factory=list)
    nested: str = ""
    last: str = ""
    loose: bool = False
    parted: bool = True
    assigned: bool = False
    begun: bool = False
    tagged: bool = False
    closed: bool = False
    framed: bool = False
    opened: bool = False
    reopened: int = 0

    def cover(self, is_said: bool) -> Cover:
        """What comes of it, where all was said or not."""
        if not is_said or self.is_amiss:
            return Cover(None, self.text[self.at :][:_SHOWN].strip())
        missing = self._missing()
        is_open = bool(missing or self.open)
        return Cover(
            Safety.INFERRED if self.loose or is_open else Safety.EXACT, "", missing, is_open
        )

    def _missing(self) -> int:
        """How many of the brackets that close the value the text ends without."""
        # The brackets of a call in code stand for those of its arguments.
        if self.tags and self.open[:1] == [")"]:
            return int(not self.text.rstrip().endswith(")"))
        # Where all was closed that was opened, other brackets stand for those of the value.
        if not self.open and (self.tags or self.framed or not self.begun):
            return 0
        due, at = _OPENERS.sub("", self.last), 0
        for sign in _OPENERS.sub("", self.nested):
            at = due.find(sign, at) + 1 or at
        return len(due) - at

    def lay(self, value: JSON) -> bool:
        """Go past all keys and scalars of a value; False where one does not stand there."""
        nested, self.nested = "", ""
        is_first, is_placed = True, False
        for atom, is_key in atoms(value):
            if isinstance(atom, Bracket):
                nested += atom.sign
                continue
            start, before, due = self.at, self.nested, [*self.open]
            self.assigned = False
            end = self._find(atom)
            # Arguments of a call may go by position: such a value has no key.
            if end is None and is_key and (self.name or self.tags):
                self.at, self.nested, self.loose, is_placed = start, before, True, True
                self.open = due
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
            self.framed |= is_first and self.nested != ""
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
        # One list may be closed that nothing opened (`"points": [1, 2], [3, 4]]`); no other
        # object or list comes or goes.
        found, asked = _CLOSERS.sub("", self.nested), _CLOSERS.sub("", wanted)
        self.reopened += 1
        self.opened |= found == f"[{asked}"
        return self.reopened == 1 and (asked == f"[{found}" or self.opened)

    @property
    def is_amiss(self) -> bool:
        """Whether a list that the value has not was opened, and closed as well."""
        return self.opened and not self.open

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
        end = scalar_end(self.text, self.at, atom)
        if end is None or (isinstance(atom, str) and not self._is_whole(atom, end)):
            return None
        return end

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
            return not atom.isdigit() or self.text[end : end + 1] in QUOTES
        # A backslash that escapes nothing is one, or was to be none.
        raw = "\\" in atom and self.text.startswith(atom, end - len(atom))
        odd = raw or "\\_" in self.text[self.at : end]
        if self.text[end : end + 1] in QUOTES:
            return not odd
        # A tag shows where a text ends, too.
        return bool(self.tags) and self.text[end : end + _NEAR].lstrip().startswith("</")

    def _past(self, at: int) -> int | None:
        """Behind one token of structure, or None where something else stands."""
        text = self.text
        if self.tags and (end := self._past_form(at)):
            return end
        if (past := structure_end(text, at)) is not None:
            self._nest(text[at])
            return past
        if not self.acts and (comment := _COMMENT.match(text, at)) is not None:
            self.loose = True
            return None if _OPEN.search(comment[0]) else comment.end()
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
        if (tag := TAG.match(text, at)) is not None and tag["word"] in self.tags:
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
                self.loose = True
        # Two values need a sign between them.
        self.loose |= sign in "{[" and not self.parted
        if sign in ",;:={[(":
            self.parted = True
        self.assigned |= sign in ":="
        # A colon behind the name of an argument is no code: somebody may describe it.
        self.loose |= bool(self.tags) and sign == ":" and self.open == [")"]
