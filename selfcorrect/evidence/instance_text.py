"""Messages of jsonschema and jsonschema-rs: "Failed validating 'type' in schema[…]".

The text names keyword and place, and then prints schema and instance, which must not speak.
"""

from __future__ import annotations

import re
from typing import Final

from selfcorrect.model import Finding
from selfcorrect.pointer import join

_FAILED: Final = re.compile(
    r"Failed validating ['\"](\w{1,40})['\"] in (?:schema|\w{1,20})([^\n:]{0,300}):?"
)
_INSTANCE: Final = re.compile(r"On (?:instance|\w{1,20})((?:\[[^\]\n]{1,100}\]){0,20}):")
_TOKEN: Final = re.compile(r"\[(?:'([^'\]]{1,100})'|\"([^\"\]]{1,100})\"|(\d{1,9}))\]")
_EXTRA: Final = re.compile(r"['\"]([^'\"\n]{1,100})['\"](?=[^()\n]{0,200}(?:was|were) unexpected)")


def read(text: str) -> tuple[Finding, ...]:
    """One finding per named key, or one in all; nothing if the text is something else."""
    failed = _FAILED.search(text)
    if failed is None:
        return ()
    keyword = failed[1]
    head = text[: failed.start()].strip()
    place = _INSTANCE.search(text, failed.end())
    tokens = [next(filter(None, group)) for group in _TOKEN.findall(place[1])] if place else []
    if keyword in ("additionalProperties", "unevaluatedProperties"):
        names = _EXTRA.findall(head)
    else:
        names = []
    paths = [join(*tokens, name) for name in names] or ([join(*tokens)] if tokens else [])
    return (Finding(head or f"violates {keyword}", code=keyword, paths=tuple(paths)),)
