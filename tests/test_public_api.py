"""Names and signatures that people build on do not change in silence.

`UPDATE_API=1 pytest tests/test_public_api.py` writes them anew; CHANGELOG.md says what changed.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

STORED = Path(__file__).parent / "data" / "public_api.txt"
PAGES = Path(__file__).parents[1] / "docs" / "pages" / "reference"
NAMED = re.compile(r"^::: ([\w.]+)$", re.MULTILINE)


def public() -> Iterator[tuple[str, object]]:
    """What the reference pages show, and all that the package itself exports."""
    texts = "".join(page.read_text(encoding="utf-8") for page in sorted(PAGES.glob("*.md")))
    exported = [f"selfcorrect.{name}" for name in import_module("selfcorrect").__all__]
    for name in sorted({*NAMED.findall(texts), *exported}):
        module, _, attribute = name.rpartition(".")
        found = getattr(import_module(module), attribute, None)
        if found is None or inspect.ismodule(found):
            yield from inside(name, import_module(name))
        else:
            yield name, found


def inside(name: str, module: ModuleType) -> Iterator[tuple[str, object]]:
    keys = getattr(module, "__all__", None) or [key for key in vars(module) if key[0] != "_"]
    for key in sorted(keys):
        value = getattr(module, key)
        if getattr(value, "__module__", "").startswith(name):
            yield f"{name}.{key}", value


PLAIN = (str, int, float, bool, type(None))


def signature(value: object) -> str:
    """The parameters with how they are passed, and their defaults where these are plain."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    bare = [
        each.replace(annotation=each.empty, default=each.default)
        if each.default is each.empty or isinstance(each.default, PLAIN)
        else each.replace(annotation=each.empty, default=...)
        for each in found.parameters.values()
    ]
    return str(inspect.Signature(bare))


def members(name: str, value: type) -> Iterator[str]:
    for key, each in sorted(vars(value).items()):
        if not key.startswith("_") and (callable(each) or isinstance(each, classmethod)):
            yield f"{name}.{key}{signature(getattr(value, key))}"


def told() -> Iterator[str]:
    for name, value in public():
        yield f"{name}{signature(value) if callable(value) else ''}"
        if isinstance(value, type) and value.__module__.startswith("selfcorrect"):
            yield from members(name, value)


def test_the_public_names_and_signatures_are_those_that_are_stored():
    now = sorted(set(told()))
    if os.environ.get("UPDATE_API"):
        STORED.write_text("\n".join(now) + "\n", encoding="utf-8")
    before = STORED.read_text(encoding="utf-8").splitlines()
    assert now == before, "see the first lines of this file"
