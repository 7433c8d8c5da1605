"""The engine of a checker: jsonschema-rs where it can, jsonschema where it cannot or is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from selfcorrect.errors import ToolDefinitionError
from selfcorrect.model import JSON, Finding
from selfcorrect.schema import by_jsonschema, by_jsonschema_rs
from selfcorrect.schema.alternatives import Violation
from selfcorrect.schema.closing import Schema
from selfcorrect.schema.effort import Effort
from selfcorrect.schema.formats import FormatCheck
from selfcorrect.schema.violations import unlisted, violations


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
        self._tool = tool
        self._effort = Effort(schema)
        self._fast = by_jsonschema_rs.validator(schema, formats, tool, self._effort)
        if self._fast is None:
            by_jsonschema.check_schema(schema, tool)
        self.fits: Callable[[JSON], bool] = self._fits
        if self._fast is not None and self._effort.is_tame:
            self.fits = self._fast.is_valid

    def findings(self, args: JSON) -> tuple[Finding, ...]:
        """Everything that is wrong with arguments that do not fit."""
        try:
            return violations(self._schema, self._listed(args), self._part)
        except RecursionError:
            return (unlisted("the arguments are nested too deeply to be checked"),)
        except ValueError:
            return (unlisted("a number in the arguments is too long to be checked"),)

    def _fits(self, args: JSON) -> bool:
        if self._fast is not None and self._effort.can_answer(args):
            return bool(self._fast.is_valid(args))
        return by_jsonschema.fits(self._schema, self._formats, args)

    def _listed(self, args: JSON) -> list[Violation]:
        if self._fast is not None and self._effort.can_list(args):
            return by_jsonschema_rs.listed(self._fast, self._schema, args)
        return by_jsonschema.listed(self._schema, self._formats, args)

    def _part(self, part: Any, value: JSON) -> list[Violation]:
        """What is wrong with a value by a part of the schema."""
        kept: Schema = {name: self._schema[name] for name in _STORES if name in self._schema}
        whole = {**kept, "allOf": [part]}
        effort = Effort(whole)
        if self._fast is not None and effort.can_list(value):
            try:
                engine = by_jsonschema_rs.validator(whole, self._formats, self._tool, effort)
            except ToolDefinitionError:
                engine = None  # it refers to a part of the whole
            if engine is not None:
                return by_jsonschema_rs.listed(engine, whole, value)
        return by_jsonschema.listed(self._schema, self._formats, value, part)


_STORES: Final = ("$defs", "definitions")
