"""jsonschema-rs: the fast engine. It answers whether arguments fit, and lists what does not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import reduce
from operator import getitem
from typing import Any, Final

from selfcorrect.model import JSON
from selfcorrect.pointer import join
from selfcorrect.schema.alternatives import Violation
from selfcorrect.schema.closing import NAMED, Schema, target
from selfcorrect.schema.effort import Effort
from selfcorrect.schema.formats import FormatCheck
from selfcorrect.schema.normal_form import unusable


def validator(
    schema: Schema, formats: Mapping[str, FormatCheck], tool: str, effort: Effort
) -> Any | None:
    """The engine for a schema in normal form; None where there is no wheel, or too much to read.

    Raises:
        ToolDefinitionError: If this is not JSON Schema 2020-12.
    """
    try:
        import jsonschema_rs
    except ImportError:
        return None
    if not effort.can_compile():
        return None
    try:
        return jsonschema_rs.Draft202012Validator(
            schema,
            formats=dict(formats),
            validate_formats=True,
            pattern_options=jsonschema_rs.RegexOptions(),
        )
    except ValueError as error:
        path = join(*getattr(error, "instance_path", ()))
        text = getattr(error, "message", str(error))
        raise unusable(tool, f"it is not JSON Schema 2020-12: {text[:300]}", path) from None


def listed(engine: Any, schema: Schema, args: JSON) -> list[Violation]:
    """What is wrong with arguments, in the order of the schema."""
    found = [_Found(error, schema, args) for error in engine.iter_errors(args)]
    found.sort(key=lambda each: each.order)
    return [violation for each in found for violation in each.violations(args, 0)]


_EACH: Final = frozenset({"items", "additionalProperties"})
"""Keywords of a schema that each item, or each of the other keys, is measured against."""
_GO_DOWN: Final = frozenset({"properties", "patternProperties", "prefixItems"})


class _Found:
    """An error with the schema whose keyword it breaks, and where that stands in the whole.

    The way to it is followed here: what jsonschema-rs calls the schema's path is that of a `$ref`,
    percent-encoded.
    """

    __slots__ = ("error", "keyword", "kind", "order", "root", "schema")

    def __init__(self, error: Any, root: Schema, args: JSON) -> None:
        self.error = error
        self.kind = type(error.kind).__name__.rpartition("_")[2]
        self.root = root
        self.schema: Schema = {}
        self.keyword = ""
        self.order: list[int] = []
        way = error.evaluation_path
        if self.kind == "PropertyNames":
            way = way[: len(way) - way[::-1].index("propertyNames")]
        below = iter(error.instance_path)
        here: Any = root
        last: Any = None
        for step in way:
            if isinstance(here, list):
                self.order.append(int(step))
            elif isinstance(here, dict) and step in here:
                self.schema, self.keyword = here, step
                self.order.append(list(here).index(step))
            else:
                continue
            is_name = last in NAMED
            if (step in _EACH and not is_name) or last in _GO_DOWN:
                token = next(below, None)
                if token is not None and step in _EACH:
                    self.order.append(token if isinstance(token, int) else list(args).index(token))
                args = args if token is None else args[token]
            last = None if is_name else step
            found: Any = here
            here = target(root, found) if step == "$ref" and not is_name else found[step]

    def violations(self, args: JSON, skip: int) -> list[Violation]:
        """The same as what the checker speaks of; paths start after `skip` steps."""
        path, kind, keyword = tuple(self.error.instance_path), self.error.kind, self.keyword
        value = self.schema.get(keyword)
        names: list[str] = []
        groups: list[list[Violation]] = []
        match self.kind:
            case "FalseSchema" if keyword == "items":
                path = path[:-1]
            case "FalseSchema" if keyword in ("additionalProperties", "propertyNames"):
                names = list(_get(args, path))
            case "FalseSchema":
                keyword, value = "not", {}
            case "Required" if kind.property in _get(args, path):
                return []  # it is not allowed there, which is said beside
            case "Required":
                names = [kind.property]
            case "AdditionalProperties" | "UnevaluatedProperties":
                unexpected = set(kind.unexpected)
                names = [name for name in _get(args, path) if name in unexpected]
            case "PropertyNames":
                names = [kind.error.instance]
            case "AnyOf" | "OneOfNotValid" | "OneOfMultipleValid":
                groups = [self._group(group, args, len(path)) for group in kind.context]
        whole = Violation(path[skip:], keyword, value, _get(args, path), self.schema, groups)
        return [replace(whole, path=(*whole.path, name)) for name in names] if names else [whole]

    def _group(self, errors: Iterable[Any], args: JSON, skip: int) -> list[Violation]:
        found = [_Found(error, self.root, args) for error in errors]
        found.sort(key=lambda each: each.order)
        return [violation for each in found for violation in each.violations(args, skip)]


def _get(whole: Any, path: Iterable[str | int]) -> Any:
    return reduce(getitem, path, whole)
