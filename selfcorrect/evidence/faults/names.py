"""Parameters that a text names: marked as one, quoted, leading the sentence, or as a flag."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from selfcorrect.evidence.faults.place import Place, normal, words_of
from selfcorrect.pointer import join, split

MARK: Final = (
    r"(?:parameters?|params?|fields?|arguments?|args?|propert(?:y|ies)|attributes?|keys?|columns?|options?|flags?"
    r"|inputs?|variables?|elements?|members?|claims?|headers?|names?|keywords?|kwargs?|value for|value of|setting)"
)
_Q: Final = r"[\"'`‘“«(\[]"
_E: Final = r"[\"'`’”»)\]]"
_ID: Final = r"[\w$@][\w$@.\[\]-]{0,80}"
_PATTERNS: Final[tuple[tuple[float, re.Pattern[str]], ...]] = tuple(
    (weight, re.compile(pattern, re.IGNORECASE))
    for weight, pattern in (
        (3.0, rf"\b{MARK}(?: named| called| name| is| are|:|,| at| for| of| value| in (?:input|request|body|query))* ?[:=]? ?{_Q}{{1,2}}(?P<n>[\w$@.\[\]/ -]{{1,80}}){_E}"),
        (3.0, rf"{_Q}(?P<n>[\w$@.\[\]/-]{{1,80}}){_E}(?: \w{{1,20}})? {MARK}\b"),
        (3.0, r"\bKey \((?P<n>[\w., ]{1,120})\)="),
        (2.6, rf"\b(?:{MARK}) (?P<n>{_ID})\b"),
        (2.4, rf"(?:\A|\n|[:;.] |\()[\"'`‘“«]?(?P<n>{_ID})[\"'`’”»]? ?(?::|(?:must|should|is|are|cannot|can't|may not|has|have|needs|contains|was|failed|exceeds?|expects?|required|not|too|does)\b|=)"),
        (2.4, r"(?<![\w-])--?(?P<n>[A-Za-z][\w-]{0,60})"),
        (2.4, rf"\b(?:data|body|query|params|instance|input|root|request|\$)[/.](?P<n>{_ID}(?:/{_ID}){{0,9}})"),
        (2.6, rf"[@|→] ?\$?\.?(?P<n>{_ID})\s*\Z"),
        (2.2, rf"\b(?:at|for|in|of|on) [\"'`‘“«]?(?P<n>{_ID})[\"'`’”»]?(?=\s*(?:[.,;:)\n]|\Z))"),
        (2.0, rf"{_Q}(?P<n>[\w$@][\w$@.\[\]/-]{{0,80}}){_E}"),
        (1.8, rf"\b(?P<n>{_ID}) (?:{MARK})\b"),
        (1.6, rf"\b(?P<n>{_ID})(?==| ?>=| ?<=)"),
    )
)  # fmt: skip
_WORD: Final = re.compile(r"[A-Za-z_$@][\w$@-]*(?:(?:\.|\[)[\w$@-]+\]?)*")
_TAIL: Final = re.compile(
    r"did you mean|perhaps you meant|maybe you meant|(?:must|should) be one of|valid (?:\w+ )?(?:values|options|names|choices|types)"
    r"|allowed values|expected one of|choose from|candidate |possible options|one of:|\n(?:HINT|CONTEXT|DETAIL:  Failing)",
    re.IGNORECASE,
)
_COMMON: Final = frozenset(
    "name value type id key data date time file path text number list item user count size length limit format code"
    " status message query string object array index order from to for with and not the is are must be in of on at"
    " input output result error invalid required field parameter argument option url host port table column database"
    " unit mode state title content body request response method action command expression pattern filter range"
    " it this that you your a an set all no one any only more less than has have was were can cannot failed"
    " default true false null none missing unknown found valid given got expected end start new old first last"
    " source target reason description comment note tag tags group role amount price address city".split()  # noqa: SIM905
)


def named(text: str, place: Place) -> list[tuple[float, str]]:
    """Known parameters that a text names, with the strength of the evidence, strongest first.

    The text must have its echoes masked: a name inside an echoed value never counts.
    """
    cut = _TAIL.search(text)
    head = text[: cut.start()] if cut and cut.start() > 3 else text
    scores: dict[str, float] = {}
    for name, weight in _mentions(head):
        for path in place.known(name):
            scores[path] = max(scores.get(path, 0.0), weight)
    for word in _words(head):
        plain = word.lower()
        for path in place.known(word):
            scores.setdefault(path, 0.5 if plain in _COMMON or len(plain) < 3 else 1.2)
        if "_" in word and not place.known(word):
            for path in _inside(word, place):
                scores[path] = max(scores.get(path, 0.0), 1.5)
    ranked = [
        (score, path)
        for path, score in scores.items()
        if not any(o.startswith(path + "/") and other >= score for o, other in scores.items())
        and not any(path.startswith(o + "/") and other > score for o, other in scores.items())
    ]
    return sorted(ranked, key=lambda item: -item[0])


def unknown_names(text: str) -> list[str]:
    """Names that a text marks outright, whether or not anything is called so."""
    found = [name for name, weight in _mentions(text) if weight >= 3.0]
    found += re.findall(r"\b[a-z]+(?:_[a-z0-9]+)+\b|\b[a-z]+[A-Z][A-Za-z]+\b", text[:400])
    return list(dict.fromkeys(name for name in found if re.fullmatch(_ID, name)))


def _mentions(text: str) -> Iterator[tuple[str, float]]:
    for weight, pattern in _PATTERNS:
        for count, match in enumerate(pattern.finditer(text)):
            if count >= 40:
                break
            for name in match["n"].split(", "):
                yield name, weight


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(match[0].strip("-.") for match in list(_WORD.finditer(text))[:400]))


def _inside(word: str, place: Place) -> Iterator[str]:
    """Parameters whose name is part of a constraint's: `users_age_check` speaks of `age`."""
    tokens = words_of(word)
    for path in place.top:
        own = words_of(split(path)[-1])
        if own and len(own) < len(tokens) and any(
            tokens[i : i + len(own)] == own for i in range(len(tokens) - len(own) + 1)
        ):
            yield path


_ABSENT: Final[tuple[re.Pattern[str], ...]] = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{MARK}(?:s|\(s\))?(?: in (?P<w>{_ID}))?(?: named| called| is| are| name|:| missing| required)*:? ?{_Q}(?P<n>[\w$@][\w$@.\[\] -]{{0,80}}){_E}",
        rf"{_Q}(?P<n>[\w$@][\w$@.\[\]-]{{0,80}}){_E}(?: \w{{1,20}}){{0,2}} {MARK}\b",
        r"constraint failed: \w{1,60}\.[\"']?(?P<n>\w{1,60})",
        r"(?<![\w-])--(?P<n>[A-Za-z][\w-]{1,60})",
        rf"(?:required|missing|lacks|following|provide|supply|specify|without)(?: {MARK})?(?:\(s\))?(?: (?:is|are|the|an?|value|for))*: ?(?P<n>[\w$@][\w$@.-]{{0,60}}(?:,? (?:and )?[\w$@][\w$@.-]{{0,60}}){{0,9}})",
        rf"\b{MARK}:? (?:missing|required): (?P<n>{_ID})",
        rf"[@|→] ?\$?\.?(?P<n>{_ID})\s*\Z",
        rf"(?:\A|\n|: )(?P<n>[\w$@][\w$@.\[\]-]{{0,60}})(?: \w{{1,20}})? (?:is|was|must|cannot|may not|should|are|required|missing|not provided)\b",
        rf"\b(?:missing|without|provide|specify|supply|lacks?|omitted|requires?) (?:the |an? |required |value for |key |field |parameter )*[\"'`‘“(]?(?P<n>[\w$@][\w$@.-]{{1,60}})",
        rf"{_Q}(?P<n>[\w$@][\w$@.\[\]-]{{0,80}}){_E}",
        rf"\b(?:for|at|of) (?P<n>{_ID})(?=\s*(?:[.,;:)\n]|\Z))",
    )
)  # fmt: skip


def absent(text: str, place: Place) -> list[str]:
    """Pointers of what a text says is not there; the first way of naming that fits is taken."""
    text = text.split(" or (", maxsplit=1)[0]
    for rank, pattern in enumerate(_ABSENT):
        found: list[str] = []
        for match in list(pattern.finditer(text))[:20]:
            for name in [*re.split(r",? and |, ", match["n"]), *_further(text, match.end())]:
                plain = name.strip("-. '\"")
                if not plain or (rank >= 7 and plain.lower() in _COMMON and not _wanted(plain, place)):
                    continue
                inside = match.groupdict().get("w")
                found += _lacking(f"{inside}.{plain}" if inside and inside.lower() not in _COMMON else plain, place)
        found = [path for path in found if not _filled(path, place)]
        if found and (rank < 7 or not (place.leaves or place.declared) or any(_wanted(split(p)[-1], place) for p in found) or rank == 7):
            return list(dict.fromkeys(found))
    return []


_MORE: Final = re.compile(rf",?(?: and| or)? ?{_Q}([\w$@][\w$@.\[\]-]{{0,80}}){_E}")


def _further(text: str, position: int) -> list[str]:
    """The rest of a list of quoted names that starts before `position`."""
    found = []
    while len(found) < 20 and (match := _MORE.match(text, position)) is not None:
        found.append(match[1])
        position = match.end()
    return found


def _wanted(name: str, place: Place) -> bool:
    return any(normal(name) == normal(split(path)[-1]) for path in place.declared)


def _filled(path: str, place: Place) -> bool:
    value = place.value(path)
    return value not in (None, "", [], {}) and type(value).__name__ != "_Absent"


def _lacking(name: str, place: Place) -> list[str]:
    known = place.known(name)
    if known:
        return list(known)
    return [join(*[token for token in re.split(r"[.\[\]]+", name) if token])]
