"""Reads the catalogs of translated messages that installed software brings."""

from __future__ import annotations

import gettext
import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml

LANGUAGES = {
    **{name: (name,) for name in ("it", "ja", "nl", "pl", "ro", "ru", "tr", "hu", "cs")},
    "ko": ("ko", "kr"),
    "de": ("de", "de_DE"),
    "fr": ("fr", "fr_FR"),
    "es": ("es", "es_ES"),
    "pt": ("pt_BR", "pt"),
    "zh": ("zh_CN", "zh_Hans", "zh"),
    "sv": ("sv", "sv_SE"),
    "uk": ("uk", "uk_UA", "ua"),
}
_TERRITORIES = {"it": "IT", "ja": "JP", "ko": "KR", "nl": "NL", "pl": "PL", "ro": "RO"} | {
    "ru": "RU",
    "tr": "TR",
    "hu": "HU",
    "cs": "CZ",
}


def spellings(language: str) -> Iterator[str]:
    """How catalogs may name a language, the likeliest first."""
    names = [*LANGUAGES[language]]
    if language in _TERRITORIES:
        names.append(f"{language}_{_TERRITORIES[language]}")
    for name in names:
        yield from dict.fromkeys(
            (name, name.replace("_", "-"), name.lower(), name.lower().replace("_", "-"))
        )


def mo(file: Path) -> dict[Any, str]:
    with file.open("rb") as opened:
        found = gettext.GNUTranslations(opened)
    said: dict[Any, str] = found._catalog  # type: ignore[attr-defined]
    plural: dict[Any, str] = {key[0]: text for key, text in said.items() if isinstance(key, tuple)}
    return {key.strip(): text for key, text in (plural | said).items() if isinstance(key, str)}


def properties(content: bytes) -> dict[str, str]:
    """Texts of Java, whose quotes are doubled and whose letters may be numbers."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    lines = re.sub(r"\\\r?\n\s*", "", text).splitlines()
    pairs = [re.split(r"\s*(?<!\\)[=:]\s*", line.strip(), maxsplit=1) for line in lines]
    plain = {pair[0]: pair[1] for pair in pairs if len(pair) == 2 and not pair[0].startswith("#")}
    return {key: _unescaped(value) for key, value in plain.items()}


def _unescaped(value: str) -> str:
    value = re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), value)
    return re.sub(r"\\(.)", r"\1", value.replace("\\n", "\n")).replace("''", "'")


def xlf(file: Path) -> dict[str, str]:
    units = (
        ElementTree.parse(file).getroot().iter("{urn:oasis:names:tc:xliff:document:1.2}trans-unit")
    )
    pairs = [[child.text or "" for child in unit] for unit in units]
    return {source: target.split("|")[-1] for source, target, *_ in pairs}


def leaves(value: Any, at: str = "") -> dict[str, str]:
    if isinstance(value, Mapping):
        return {
            key: text
            for name, inner in value.items()
            for key, text in leaves(inner, f"{at}.{name}").items()
        }
    return {at[1:]: value} if isinstance(value, str) else {}


class Catalogs:
    """The texts of catalogs by language."""

    def __init__(
        self, table: Mapping[str, Any], roots: Sequence[Path], npm: Mapping[str, Any]
    ) -> None:
        self._table, self._roots, self._npm = table, roots, npm
        self.texts = cache(self._texts)

    def _texts(self, name: str, language: str) -> dict[str, str]:
        catalog = self._table[name]
        for spelled in spellings(language):
            found = self._read(catalog, spelled)
            if found:
                return found
        return {}

    def _read(self, catalog: Mapping[str, Any], spelled: str) -> dict[str, str]:
        if "npm" in catalog:
            tables = self._npm.get("tables", {}).get(catalog["npm"], {})
            return tables.get(catalog.get("named", "{lang}").replace("{lang}", spelled), {})
        path, _, inside = catalog["file"].partition("!")
        path = path.replace("{lang}", spelled)
        inside = inside.replace("{lang}", spelled.replace("-", "_"))
        for root in self._roots:
            if not (file := root / path).is_file():
                continue
            if file.suffix == ".mo":
                return mo(file)
            if file.suffix == ".xlf":
                return xlf(file)
            if file.suffix == ".yml":
                return leaves(next(iter(yaml.safe_load(file.read_text("utf-8")).values())))
            if file.suffix == ".json":
                return leaves(json.loads(file.read_text("utf-8")))
            if file.suffix == ".jar":
                with zipfile.ZipFile(file) as jar:
                    return properties(jar.read(inside)) if inside in jar.namelist() else {}
            return properties(file.read_bytes())
        return {}
