"""What a schema says of a place, in the form in which the kernel takes it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Final

from selfcorrect.kernel.spellings import Slot
from selfcorrect.model import JSON, JsonObject
from selfcorrect.schema.local import local_check
from selfcorrect.schema.subschema import (
    Alternatives,
    Root,
    at,
    declared,
    formats_of,
    kinds_of,
    listed,
    meets,
    required,
    types_of,
)

_TOLD: Final = {
    **dict.fromkeys(("description", "title"), "{}"),
    **dict.fromkeys(("unit", "x-unit", "x-currency"), "({})"),
}
_LONGEST: Final = 1_000


def slots_of(schema: JsonObject) -> Callable[[tuple[str | int, ...]], Slot]:
    """What a schema says of each place in the arguments, looked up when it is asked for."""
    root = Root(schema)
    return lambda path: _made(root, tuple(map(str, path)))


@lru_cache(maxsize=4_096)
def _made(root: Root, tokens: tuple[str, ...]) -> Slot:
    found = at(root.schema, tokens)
    above = at(root.schema, tokens[:-1]) or () if tokens else ()
    schemas: Alternatives = found or ()
    must = bool(tokens) and required(above, tokens[-1])
    return Slot(
        name=next((token for token in reversed(tokens) if not token.isdigit()), ""),
        said=" ".join(
            told.format(str(one[key])[:_LONGEST])
            for one in schemas
            for key, told in _TOLD.items()
            if key in one
        ),
        kinds=kinds_of(schemas),
        nullable=any("null" in types_of(one) for one in schemas),
        required=must,
        listed=listed(schemas),
        formats=formats_of(schemas),
        patterned=any("pattern" in one for one in schemas),
        given=[one[k] for one in schemas for k in ("const", "default") if k in one],
        names=tuple(declared(schemas)),
        declared=found is not None,
        fits=local_check(root.schema, tokens) or partial(_meets, schemas),
    )


def _meets(schemas: Alternatives, value: JSON) -> bool:
    # Of a container, a format or a pattern only the whole schema can say: nothing fits for certain.
    told = any("format" in one or "pattern" in one for one in schemas)
    is_open = isinstance(value, dict | list) or (told and isinstance(value, str))
    return not is_open and any(meets(value, one) for one in schemas)
