"""Messages in other languages, from the catalogs of installed software.

`python translations.py breaks/translations.toml OUT.jsonl --root DIR… [--npm NPM.json]`. What a
message means is labelled once, in English (the table); each language then says it in its own words,
with the values of a call in its places. What no root holds is left out and listed.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from catalogs import LANGUAGES, Catalogs, spellings
from rows import Rows

MOST_A_LANGUAGE = 12
MOST_A_CATALOG = 150
SEED = 2026
# What an argument is called must not tell what is wrong with it: names are drawn.
NAMES = {
    "title": ("title", "name", "subject", "summary", "code", "comment", "value"),
    "subject": ("subject", "name", "title", "comment"),
    "amount": ("amount", "limit", "count", "quantity", "page", "age", "size", "value"),
    "limit": ("limit", "amount", "count", "page", "id", "code"),
    "price": ("price", "total", "rate", "weight", "amount", "value"),
    "due": ("due", "start", "until", "birthday", "name", "title", "value"),
    "contact": ("contact", "email", "sender", "user", "value"),
    "ref": ("ref", "sku", "slug", "code", "name", "title", "value"),
    "size": ("size", "kind", "status", "unit", "code", "value"),
    "labels": ("labels", "tags", "items", "ids", "value"),
    "site": ("site", "url", "homepage", "callback", "value"),
    "order_id": ("order_id", "id", "user", "name", "path"),
}
_PLACE = re.compile(
    r"(?:\d:)?\{\{ ?(\w+) ?\}\}|%?(?:\d:)?\$?\{(\w+)[^{}]*\}|%\((\w+)\)[a-z]|%([a-z_]{2,})%"
    r"|(?<![\w:]):([a-z_]+)|\$(\d)"
    r"|%(?:(?P<at>\d+)\$)?[-+#0']*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|j|z|t|q|L)?[a-zA-Z]|%%"
)
_KEY = re.compile(r"\[\[(?:(glibc)\|)?(.*?)\]\](?!\])", re.DOTALL)
_QUOTED = re.compile(r"'([^']*)'\Z")
_PLURAL = re.compile(r"\{\{PLURAL:[^|}]*\|(?:[^|}]*\|)*([^|}]*)\}\}", re.IGNORECASE)


class Told(NamedTuple):
    """One message in a language, and what it is about."""

    language: str
    label: str
    message: str
    arguments: Any
    params: Any
    status: int | None = None


def filled(text: str, values: Any, quotes: tuple[str, str]) -> str:
    """A text with values in its places: by name, by number, or one after the other.

    Raises:
        LookupError: If it has a place that no value is given for.
    """
    by_name = (
        values if isinstance(values, Mapping) else {str(at): each for at, each in enumerate(values)}
    )
    left = iter([] if isinstance(values, Mapping) else values)

    def shown(value: Any) -> str:
        quoted = _QUOTED.match(value) if isinstance(value, str) else None
        return f"{quotes[0]}{quoted[1]}{quotes[1]}" if quoted else str(value)

    def value_of(found: re.Match[str]) -> str:
        if found[0] == "%%":
            return "%"
        name = found["at"] or next(filter(None, found.groups()), None)
        if name is None:
            for value in left:
                return shown(value)
            raise LookupError(found[0])
        if found[0].startswith(("$", "%")) and name.isdigit():
            name = str(int(name) - 1)
        if name in by_name:
            return shown(by_name[name])
        if found[0].startswith(":") or not isinstance(values, Mapping):
            return found[0]
        raise LookupError(found[0])

    return _PLACE.sub(value_of, _PLURAL.sub(r"\1", text))


def said(catalogs: Catalogs, name: str, text: str, values: Any, language: str) -> str | None:
    """One message in a language, or None where a part of it is not translated."""
    own = catalogs.texts(name, language)
    quotes = (own.get("`", "'"), own.get("'", "'"))
    if isinstance(values, list):
        values = [
            said(catalogs, name, each, [], language) if "[[" in str(each) else each
            for each in values
        ]
        if None in values:
            return None
    parts = _KEY.split(text) if "[[" in text else ["", None, text, ""]
    told = []
    for start in range(0, len(parts) - 1, 3):
        before, other, key = parts[start : start + 3]
        translated = (catalogs.texts(other, language) if other else own).get(key.strip())
        if not translated or translated == key:
            return None
        told += [before, re.sub(r"</?(?:var|kbd|code|strong)>", "", translated.strip("\n"))]
    return filled("".join([*told, parts[-1]]), values, quotes)


def renamed(name: str, language: str, line: Sequence[Any]) -> list[Any]:
    """A line of the table whose arguments are called otherwise, the same each time."""
    chance = random.Random(f"{SEED} {name} {language} {line[:2]}")
    label, text, values, given, *more = line
    params = more[0] if more else list(given)
    known = dict.fromkeys([*given, *(each for each in params if isinstance(each, str))])
    names = {each: chance.choice(NAMES.get(each, (each,))) for each in known}
    if len(set(names.values())) < len(names):
        names = {each: each for each in known}

    def called(value: Any) -> Any:
        if isinstance(value, list):
            return [called(each) for each in value]
        return names.get(value, value) if isinstance(value, str) else value

    values = (
        {key: called(each) for key, each in values.items()}
        if isinstance(values, Mapping)
        else called(values)
    )
    arguments = {names[key]: None if each == "$null" else each for key, each in given.items()}
    return [label, text, values, arguments, called(params), *more[1:]]


def drawn(options: Sequence[Told], name: str) -> Iterator[Told]:
    """At most so many of a language and of a catalog, the same each time."""
    chance = random.Random(f"{SEED} {name}")
    languages = sorted({option.language for option in options})
    chance.shuffle(languages)
    taken = 0
    for language in languages:
        own = [option for option in options if option.language == language]
        some = chance.sample(own, min(len(own), MOST_A_LANGUAGE, MOST_A_CATALOG - taken))
        taken += len(some)
        yield from some


def told(catalogs: Catalogs, name: str, catalog: Mapping[str, Any], rows: Rows) -> Iterator[Told]:
    """Every labelled message of a catalog in every language that has it."""
    frame = catalog.get("frame", "%")
    for line in catalog["lines"]:
        languages = 0
        for language in LANGUAGES:
            label, text, values, arguments, params, *status = renamed(name, language, line)
            first = params[0] if params else "detail"
            try:
                message = said(catalogs, name, text, values, language)
            except LookupError as error:
                rows.left_out(f"{name} {language}", text, f"has a place for {error}")
                continue
            if message is None:
                continue
            languages += 1
            if frame.startswith('{"'):
                message = json.dumps(message, ensure_ascii=False)[1:-1]
            field = first if isinstance(first, str) else first[0]
            message = frame.replace("FIELD", field).replace("%", message)
            yield Told(
                language, label, message, arguments, params, *(status or [catalog.get("status")])
            )
        if not languages:
            rows.left_out(name, line[1], "is in no language")


def validated(npm: Mapping[str, Any]) -> Iterator[tuple[str, list[Told]]]:
    """What validators of npm said of broken forms, by library."""
    known = {
        spelled: language for language in LANGUAGES for spelled in reversed([*spellings(language)])
    }
    for name in sorted({each["system"] for each in npm.get("ran", ())}):
        yield (
            name,
            [
                Told(
                    known[language],
                    *(each[key] for key in ("label", "message", "arguments", "params")),
                )
                for each in npm["ran"]
                if each["system"] == name and (language := each["language"]) in known
            ],
        )


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("table", type=Path)
    ap.add_argument("out")
    ap.add_argument("--root", nargs="+", type=Path, default=[Path("/")])
    ap.add_argument("--npm", type=Path, help="what translations.mjs wrote")
    args = ap.parse_args()
    table = tomllib.loads(args.table.read_text("utf-8"))
    npm = json.loads(args.npm.read_text("utf-8")) if args.npm else {}
    rows = Rows(args.out)
    catalogs = Catalogs(table, args.root, npm)
    found = [(name, list(told(catalogs, name, each, rows))) for name, each in table.items()]
    for name, options in [*found, *validated(npm)]:
        system = table.get(name, {}).get("system", name)
        for each in drawn(options, name):
            rows.add(
                f"{system}-localised",
                each.label,
                each.message,
                each.arguments,
                each.params,
                status=each.status,
                origin=f"catalog {each.language}",
            )
    rows.close()


if __name__ == "__main__":
    main()
