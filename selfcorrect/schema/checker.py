"""Checks arguments against a tool's JSON Schema, with every object closed to unknown keys.

The schema that the model sees stays as it is. Arguments are checked against a private copy in
normal form, where an object takes only what is declared for it, unless the schema says otherwise in
words. jsonschema-rs answers whether arguments fit, and what does not; see `engine`.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from selfcorrect.model import Finding, JsonObject
from selfcorrect.plain import problem
from selfcorrect.schema.closing import Schema, nodes
from selfcorrect.schema.formats import FORMATS, PATTERN, FormatCheck
from selfcorrect.schema.normal_form import prepared, unusable
from selfcorrect.schema.patterns import compiled

if TYPE_CHECKING:
    from selfcorrect.schema.engine import Engine


_COMPILING: Final = threading.Lock()


class Checker:
    """Answers whether arguments fit, and if not, everything that is wrong with them.

    The engines are loaded and the schema is compiled when first needed, once.

    Args:
        schema: The schema of the tool's arguments.
        tool: The tool's name, for errors.
        local_times: Whether a time may lack its offset, as in the schemas that pydantic makes.
        inside: Whether the objects inside the arguments are closed, too.

    Raises:
        ToolDefinitionError: If the schema cannot be used.
    """

    def __init__(
        self, schema: Schema, tool: str, *, local_times: bool = False, inside: bool = True
    ) -> None:
        self._tool = tool
        # Whether pydantic made the schema: its types drop what they do not declare.
        self.is_typed = local_times
        self._opened: Checker | None = None
        self._schema = prepared(schema, tool, local_times=local_times, inside=inside)
        self._engine: Engine | None = None

    def compile(self) -> Engine:
        """Make the checker ready for use.

        Raises:
            ToolDefinitionError: If this is not JSON Schema 2020-12.
        """
        with _COMPILING:
            if self._engine is None:
                from selfcorrect.schema.engine import Engine

                formats = {**FORMATS, **_move_patterns(self._schema, self._tool)}
                self._engine = Engine(self._schema, formats, self._tool)
            return self._engine

    def is_valid(self, args: JsonObject) -> bool:
        """Whether the arguments are plain JSON and fit the schema."""
        engine = self._engine or self.compile()
        if type(args) is not dict:
            args = dict(args)
        return problem(args) is None and engine.fits(args)

    def opened(self, schema: JsonObject) -> Checker:
        """The checker that leaves the objects inside the arguments as open as the schema does."""
        if self._opened is None:
            self._opened = Checker(dict(schema), self._tool, inside=False)
        return self._opened

    def violations(self, args: JsonObject) -> tuple[Finding, ...]:
        """Everything that is wrong with the arguments, in the order of the schema."""
        engine = self._engine or self.compile()
        if type(args) is not dict:
            args = dict(args)
        if (wrong := problem(args)) is not None:
            from selfcorrect.schema.violations import not_json

            return (not_json(*wrong),)
        return () if engine.fits(args) else engine.findings(args)


def _move_patterns(schema: Schema, tool: str) -> dict[str, FormatCheck]:
    """Turn the patterns that need backtracking into formats, which can bound it."""
    formats: dict[str, FormatCheck] = {}
    for path, each in nodes(schema):
        pattern = each.get("pattern")
        patterns = [pattern] if isinstance(pattern, str) else []
        keys = each.get("patternProperties")
        patterns += keys if isinstance(keys, dict) else []
        for one in patterns:
            try:
                found = compiled(one)
            except ValueError as error:
                raise unusable(tool, str(error), path) from None
            if found.linear:
                continue
            if one is not pattern:
                raise unusable(tool, f"the key pattern {one!r} is not regular", path)
            del each["pattern"]
            each["allOf"] = [*each.get("allOf", ()), {"format": PATTERN + one}]
            formats[PATTERN + one] = found.search
    return formats
