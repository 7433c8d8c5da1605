"""The engine of a checker: jsonschema-rs says whether arguments fit, jsonschema what does not.

jsonschema also says whether they fit where jsonschema-rs cannot, or is missing. It is loaded when
it is first needed: a healthy call needs it not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from selfcorrect.model import JSON, Finding
from selfcorrect.pointer import join
from selfcorrect.schema.closing import Schema
from selfcorrect.schema.effort import Effort
from selfcorrect.schema.formats import FormatCheck
from selfcorrect.schema.normal_form import unusable


class Engine:
    """Says whether arguments fit a schema in normal form, and what does not.

    Attributes:
        fits: Whether arguments fit: the fast engine itself, wherever its work is bounded.

    Raises:
        ToolDefinitionError: If this is not JSON Schema 2020-12.
    """

    def __init__(self, schema: Schema, formats: Mapping[str, FormatCheck], tool: str) -> None:
        self._schema = schema
        self._formats = formats
        self._effort = Effort(schema)
        self._fast = _fast(schema, formats, tool) if self._effort.can_compile() else None
        if self._fast is None:
            from selfcorrect.schema.by_jsonschema import check_schema

            check_schema(schema, tool)
        self.fits: Callable[[JSON], bool] = self._fits
        if self._fast is not None and self._effort.is_tame:
            self.fits = self._fast.is_valid

    def findings(self, args: JSON) -> tuple[Finding, ...]:
        """Everything that is wrong with arguments that do not fit."""
        from selfcorrect.schema.by_jsonschema import listed as listed_by
        from selfcorrect.schema.violations import unlisted, violations

        listed = partial(listed_by, self._schema, self._formats)
        try:
            return violations(self._schema, args, listed)
        except RecursionError:
            return (unlisted("the arguments are nested too deeply to be checked"),)
        except ValueError:
            return (unlisted("a number in the arguments is too long to be checked"),)

    def count(self, args: JSON, most: int) -> int:
        """At how many places arguments are wrong, up to a bound."""
        from selfcorrect.schema.by_jsonschema import counted

        return counted(self._schema, self._formats, args, most)

    def _fits(self, args: JSON) -> bool:
        if self._fast is not None and self._effort.can_answer(args):
            return bool(self._fast.is_valid(args))
        return not self.count(args, 1)


def _fast(schema: Schema, formats: Mapping[str, FormatCheck], tool: str) -> Any | None:
    """The fast engine for a schema in normal form; None where there is no wheel of it."""
    try:
        import jsonschema_rs
    except ImportError:
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
