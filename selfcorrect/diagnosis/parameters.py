"""Finds the arguments of a call and its schema that an error is about."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from selfcorrect.diagnosis.body import Fault, keys_in
from selfcorrect.model import JSON, JsonObject, frozen

MARK = "\ue000"
"""Stands for a value of the call in a text; a character that no message has."""
_QUOTATION = tuple("\"'`‘’“”«»")
_DEPTH = 5
_MOST = 200
_SHORT = 3
"""Characters that a word needs to count as an argument's value where it is not quoted."""
_LONG = 200


Path: TypeAlias = tuple[str, ...]
"""The keys that lead to an argument."""


@frozen
class Places:
    """Where an argument may be at fault.

    Attributes:
        values: Values of the call, containers included.
        by_name: Paths by their plain name, and by the plain name of their last key.
    """

    values: Mapping[Path, JSON]
    by_name: Mapping[str, tuple[Path, ...]]

    @property
    def top(self) -> tuple[Path, ...]:
        """The arguments of the call that no other one holds."""
        return tuple(path for path in self.values if len(path) == 1)

    def named(self, name: str) -> tuple[Path, ...]:
        """Return the paths that a name may mean, whatever its case and separators."""
        return self.by_name.get(plain_name(name), ())


def places_of(args: JSON, schema: JsonObject | None) -> Places:
    """List the arguments of a call and of a schema."""
    values = dict(_values(args, (), 0))
    properties = (schema or {}).get("properties")
    declared = [(str(name),) for name in properties] if isinstance(properties, Mapping) else []
    by_name: dict[str, tuple[Path, ...]] = {}
    for path in dict.fromkeys((*values, *declared)):
        for name in {plain_name(".".join(path)), plain_name(path[-1])}:
            by_name[name] = (*by_name.get(name, ()), path)
    return Places(values, by_name)


def plain_name(name: str) -> str:
    """Return a name without case and separators.

    >>> plain_name("departure_date") == plain_name("departureDate")
    True
    """
    return _SEPARATORS.sub("", name).strip(".").casefold()


_SEPARATORS = re.compile(r"[^\w.]|_")


def _values(node: Any, path: Path, depth: int) -> Iterator[tuple[Path, JSON]]:
    if isinstance(node, list | tuple):
        node = dict(enumerate(node))
    if isinstance(node, Mapping) and depth < _DEPTH:
        for key, value in list(node.items())[:_MOST]:
            inner = (*path, str(key))
            yield inner, value
            yield from _values(value, inner, depth + 1)


@frozen
class Masked:
    """A text with `MARK` in place of each value of the call.

    Attributes:
        text: The text; what a value says is not what the tool says.
        quoted: Paths whose value the text has in quotes.
        bare: Paths whose value the text has without.
    """

    text: str
    quoted: tuple[Path, ...] = ()
    bare: tuple[Path, ...] = ()


def mask(text: str, places: Places) -> Masked:
    """Mark the values of the call in a text, the longest first."""
    quoted: list[Path] = []
    bare: list[Path] = []
    texts = {path: str(value).strip()[:_LONG] for path, value in places.values.items()}
    if not any("://" in value for value in texts.values()):
        # The address that answered 401 says nothing of the arguments.
        text = _ADDRESS.sub(MARK, text)
    for path, value in sorted(texts.items(), key=lambda item: -len(item[1])):
        if not value or value not in text:
            continue
        whole = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)")
        match = whole.search(text)
        if match is None:
            continue
        is_quoted = text[match.start() - 1 : match.start()] in _QUOTATION
        if is_quoted or len(value) >= _SHORT or value.lstrip("-").isdigit():
            paths = quoted if is_quoted else bare
            paths.append(path)
            # A value that is an argument's name too may stand for the name elsewhere.
            text = whole.sub(MARK, text, count=1 if places.named(value) else 0)
    return Masked(text, tuple(quoted), tuple(bare))


_ADDRESS = re.compile(r"\bhttps?://[^\s\"'<>]+")


# --- the arguments at fault ---


@frozen
class Subject:
    """The arguments that an error is about, and what shows it."""

    paths: tuple[Path, ...] = ()
    by: str = "none"


def subject_of(faults: Iterable[Fault], masked: Masked, places: Places) -> Subject:
    """Find the arguments at fault: by the body, by the text, by their values, by elimination."""
    paths = [
        _inside(path, fault.sentence, places)
        for fault in faults
        if (path := locate(fault.place, places))
    ]
    if paths:
        return Subject(tuple(dict.fromkeys(paths)), "structure")
    names = _new_names(masked.text, places)
    if names and not _runs_program(places):
        return Subject(tuple(tuple(name.split(".")) for name in names), "text")
    scores = _scores(masked, places)
    best = max(scores.values(), default=0.0)
    if len(places.top) == 1 and best < _NAMED:
        is_mentioned = scores.get(places.top[0], 0.0) > _NOUN
        return Subject(places.top, "text" if is_mentioned else "elimination")
    paths = [_inside(path, masked.text, places) for path in scores if scores[path] == best]
    return Subject(tuple(paths[:2]), "text" if paths else "none")


def _inside(path: Path, sentence: str, places: Places) -> Path:
    """Return the key of an object that a sentence misses or refuses, or the object's own path."""
    if not isinstance(places.values.get(path), Mapping):
        return path
    names = _new_names(sentence, places)
    return (*path, *names[0].split(".")) if names else path


def locate(place: Path, places: Places) -> Path | None:
    """Return the path of a place, without keys that stand before it such as `body`, or None."""
    for start in range(len(place)):
        path = place[start:]
        paths = (path,) if path in places.values else places.named(".".join(path))
        if paths:
            return paths[0]
        if path[:-1] in places.values:
            return path
    path = tuple(key for key in place if key not in ("body", "query", "path", "args"))
    return path if path and re.fullmatch(_NAME, path[-1]) else None


_PROGRAM = re.compile(r"[\s(){};=<>/\[\]]")
"""What a command line or a query has, and the value of another argument seldom."""


def _runs_program(places: Places) -> bool:
    """Say whether the only argument is a command or a query: it misses words, not arguments."""
    top = places.top
    return len(top) == 1 and bool(_PROGRAM.search(str(places.values[top[0]])))


# --- names that the call or the schema has ---

_OPEN, _CLOSE = r"[\"'`‘“«(\[]", r"[\"'`’”»)\]]"
_NAME = r"[A-Za-z_$@][\w$@.\[\]-]{0,80}"
_VERBS = "must|should|is|are|cannot|may|has|needs|contains|failed|exceeds?|does"
_MENTIONS = tuple(
    (weight, re.compile(pattern, re.MULTILINE))
    for weight, pattern in (
        (2.6, rf"(?i)(?:\bat|[@|→]|\bpath:) `?(?:path:? )?[/$.]*({_NAME})`?\s*(?:\Z|--|\n)"),
        (
            2.4,
            rf"(?i)(?:^|[:;.] |\(){_OPEN}?({_NAME}){_CLOSE}?(?: field)? ?(?:[:=]|\b(?:{_VERBS})\b)",
        ),
        (2.0, rf"{_OPEN}({_NAME}){_CLOSE}"),
        (1.2, r"([A-Za-z_$][\w$.-]{0,80})"),
    )
)
"""Patterns that name an argument, with the strength of each as evidence."""
_QUOTED, _BARE = 2.2, 1.4
"""Strength of an argument whose value the text repeats, in quotes and without."""
_NOUN, _NAMED = 0.9, 2.0
"""Strength of a noun; from where on an argument counts as named."""
_IDS = {"id", "name", "key", "value", "type"}
"""Words of an argument's name that its noun goes without: `order` is `order_id`."""


def _scores(masked: Masked, places: Places) -> dict[Path, float]:
    """Return how strongly a text speaks of each argument."""
    scores: dict[Path, float] = {}

    def add(path: Path, weight: float) -> None:
        scores[path] = max(scores.get(path, 0.0), weight)

    for weight, pattern in _MENTIONS:
        for name in pattern.findall(masked.text):
            for path in places.named(name) or places.named(".".join(keys_in(name))):
                add(path, weight)
    for paths, weight in ((masked.quoted, _QUOTED), (masked.bare, _BARE)):
        for path in paths:
            add(_whole(path, places), weight)
    words = _nouns(masked.text)
    for path in places.values:
        nouns = _nouns(path[-1]) - _IDS
        if nouns and nouns <= words:
            scores.setdefault(path, _NOUN)
    return scores


def _whole(path: Path, places: Places) -> Path:
    """Return the list that holds a repeated text: a message names no item by its value."""
    is_item = path[-1].isdigit() and isinstance(places.values[path], str)
    return path[:-1] if is_item else path


def _nouns(text: str) -> set[str]:
    """Return the words of a text or name."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+", text)}


# --- names that neither the call nor the schema has ---

_LACK = (
    "missing|required|undefined|unexpected|unknown|null value"
    "|not (?:allowed|defined|permitted|expected)"
)
_BEFORE = "requires|unrecogni[sz]ed|additional|extra|allowed|include|contain|without|no"
_QUOTE = rf"[\"'`‘“]({_NAME})[\"'`’”]"
_QUOTES = rf"((?:[\"'`‘“]{_NAME}[\"'`’”](?:, | and |, and )?){{1,20}})"
_STATE = "missing|required|undefined|not (?:set|given|provided)"
_MUST = r"must be present|must be [\w ]+\(was missing"
_NEW = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        rf"(?i)(?:{_LACK}|{_BEFORE})\b[^\n\"'`‘“]{{0,60}}?{_QUOTES}",
        rf"(?i){_QUOTE}:? (?:\w+ ){{0,3}}(?:{_LACK}|must (?:be (?:present|set)|exist))",
        rf"(?i)(?:{_LACK}|unrecogni[sz]ed)\b[^\n:]{{0,60}}: ({_NAME})\b",
        rf"(?:^|[:.] )({_NAME}) (?:(?:is|was) (?:{_STATE})|{_MUST})",
        # All that Python's KeyError says.
        rf"\A['\"]({_NAME})['\"]\Z",
    )
)
"""Patterns that name an argument that is missing or unknown, the surest first."""
_LISTED = re.compile(_QUOTE)


def _new_names(text: str, places: Places) -> tuple[str, ...]:
    for pattern in _NEW:
        if match := pattern.search(text):
            names = tuple(_LISTED.findall(match[1])) or (match[1],)
            return () if places.named(names[0]) else names
    return ()
