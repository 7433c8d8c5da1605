"""Parameters that a text names: marked as one, quoted, leading the sentence, or as a flag."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Final

from selfcorrect.evidence.faults.place import Places
from selfcorrect.pointer import split
from selfcorrect.text import words_of
from selfcorrect.words import word_list

MARK: Final = (
    r"(?:parameters?|params?|fields?|arguments?|args?|propert(?:y|ies)|attributes?|keys?"
    r"|columns?|options?|flags?"
    r"|inputs?|variables?|elements?|members?|claims?|headers?|names?|keywords?|kwargs?|value "
    r"for|value of|setting)"
)
OPEN: Final = r"[\"'`‘“«(\[]"
CLOSE: Final = r"[\"'`’”»)\]]"
IDENTIFIER: Final = r"(?!\d)[\w$@][\w$@.\[\]-]{0,80}"


def way(*parts: str) -> re.Pattern[str]:
    """A way of naming, in any case; its group `n` is the name."""
    return re.compile("".join(parts), re.IGNORECASE)


WAYS: Final = (
    (
        3.0,
        way(
            rf"\b{MARK}(?: named| called| name| is| are|:|,| at| for| of| value| in (?:input",
            rf"|request|body|query))* ?[:=]? ?{OPEN}{{1,2}}(?P<n>[\w$@.\[\]/ -]{{1,80}}){CLOSE}",
        ),
    ),
    (3.0, way(rf"{OPEN}(?P<n>[\w$@.\[\]/-]{{1,80}}){CLOSE}(?: \w{{1,20}})? {MARK}\b")),
    (2.6, way(rf"[@|→] ?\$?\.?(?P<n>{IDENTIFIER})\s*\Z")),
    (
        2.4,
        way(
            rf"(?:\A|\n|[:;.] |\()[\"'`‘“«]?(?P<n>{IDENTIFIER})[\"'`’”»]? ?(?::|(?:must|should|is",
            r"|are|cannot|can't|may not|has|have|needs|contains|was|failed|exceeds?|expects?",
            r"|required|not|too|does)\b|=)",
        ),
    ),
    (2.0, way(rf"{OPEN}(?P<n>[\w$@][\w$@.\[\]/-]{{0,80}}){CLOSE}")),
)
"""Ways of naming a known parameter, with the strength of the evidence."""

_WORD: Final = re.compile(r"[A-Za-z_$@][\w$@-]*(?:(?:\.|\[)[\w$@-]+\]?)*")
_TAIL: Final = re.compile(
    r"did you mean|perhaps you meant|maybe you meant|(?:must|should) be one of|valid (?:\w+ "
    r")?(?:values|options|names|choices|types)"
    r"|allowed values|expected one of|choose from|candidate |possible options|one of:"
    r"|\n(?:HINT|CONTEXT|DETAIL:  Failing)",
    re.IGNORECASE,
)
COMMON: Final = frozenset(
    word_list("""
        name value type id key data date time file path text number list item user count size
        length limit format code status message query string object array index order from to
        for with and not the is are must be in of on at input output result error invalid
        required field parameter argument option url host port table column database unit mode
        state title content body request response method action command expression pattern
        filter range it this that you your a an set all no one any only more less than has have
        was were can cannot failed default true false null none missing unknown found valid
        given got expected end start new old first last source target reason description comment
        note tag tags group role amount price address city""")
)


def named(text: str, place: Places, code: str | None = None) -> list[tuple[float, str]]:
    """Known parameters that a text names, with the strength of the evidence, strongest first.

    The text must have its echoes masked: a name inside an echoed value never counts. A name of
    several words counts as a noun, too: `Phone number`, or inside a code,
    `MalformedPolicyDocument`.
    """
    cut = _TAIL.search(text)
    # The word that the tail begins with may be what makes the words before it its subject.
    head = text[: cut.start()] + cut[0].split()[0] if cut and cut.start() > 3 else text
    scores: dict[str, float] = {}
    for name, weight in _mentions(head):
        for path in place.known(name):
            scores[path] = max(scores.get(path, 0.0), weight)
    words = [match[0].strip("-.") for match in list(_WORD.finditer(head))[:400]]
    for word in words:
        plain = word.lower()
        for path in place.known(word):
            scores.setdefault(path, 0.5 if plain in COMMON or len(plain) < 3 else 1.2)
    parts = (path for word in (*words, code or "") for path in _inside(word, place))
    nouns = (path for noun in map("".join, pairwise(words)) for path in place.known(noun))
    for path in (*parts, *nouns):
        scores[path] = max(scores.get(path, 0.0), 1.5)
    ranked = [
        (score, path)
        for path, score in scores.items()
        if not any(o.startswith(path + "/") and other >= score for o, other in scores.items())
        and not any(path.startswith(o + "/") and other > score for o, other in scores.items())
    ]
    return sorted(ranked, key=lambda item: -item[0])


_SUBJECT: Final = re.compile(
    rf"\A[\"'`‘“]?(?P<n>{IDENTIFIER})[\"'`’”]?(?: (?:field|parameter|argument|value|length))? "
    r"(?:must|should|is|are|cannot|may|has|have|needs|with value|contains|fails|length)\b"
    rf"|\A(?:The|field|parameter) (?:field )?[\"'`]?(?P<m>{IDENTIFIER})[\"'`]? (?:field |parameter "
    rf")?(?:must|may|is|should|cannot)\b"
)


NO_NAMES: Final = frozenset(
    word_list("""
        this value field string number input expected array object it data list item text the
        that argument parameter password invalid too in""")
)


def unknown_names(text: str) -> list[str]:
    """Names that a text gives to what is wrong, whether or not anything is called so."""
    found = [name for name, weight in _mentions(text) if weight >= 3.0]
    if (match := _SUBJECT.match(text)) is not None:
        name = ".".join(re.findall(r"[\w$-]+", match["n"] or match["m"]))
        found += [name] if name.lower() not in NO_NAMES else []
    found += re.findall(r"\b[a-z]+(?:_[a-z0-9]+)+\b|\b[a-z]+[A-Z][A-Za-z]+\b", text[:400])
    return list(dict.fromkeys(name for name in found if re.fullmatch(IDENTIFIER, name)))


def _mentions(text: str) -> Iterator[tuple[str, float]]:
    for weight, pattern in WAYS:
        for match in islice(pattern.finditer(text), 40):
            for name in match["n"].split(", "):
                yield name, weight


def _inside(word: str, place: Places) -> Iterator[str]:
    """Parameters whose name is part of a constraint's: `users_age_check` speaks of `age`."""
    if place.known(word):
        return
    tokens = words_of(word)
    for path in place.top:
        own = words_of(split(path)[-1])
        if (
            ("_" in word or len(own) > 1)
            and 0 < len(own) < len(tokens)
            and any(tokens[i : i + len(own)] == own for i in range(len(tokens) - len(own) + 1))
        ):
            yield path
