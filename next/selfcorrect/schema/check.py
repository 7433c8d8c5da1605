"""Checks arguments against the JSON Schema that the model was sent."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from selfcorrect.errors import ToolDefinitionError
from selfcorrect.model import JSON, Finding, JsonObject, own_finding
from selfcorrect.pointer import ARGS
from selfcorrect.schema.engine import TooLargeError, Validator, compile_schema
from selfcorrect.schema.slot import Slot, close
from selfcorrect.text import quote


@dataclass(frozen=True)
class Checker:
    """Checks arguments against a schema, formats included.

    Attributes:
        schema: The schema of the arguments.
        tool: The name of the tool, for errors.
    """

    schema: JsonObject
    tool: str = ""

    def check_compiles(self) -> None:
        """Compile the schema.

        Raises:
            ToolDefinitionError: If it is not a usable JSON Schema.
        """
        _ = self._validator

    def findings(self, args: JSON) -> list[Finding]:
        """Return what is wrong with the arguments: one finding for each place."""
        if not isinstance(args, Mapping):
            text = f"the arguments must be a JSON object; {quote(args)} is not"
            return [own_finding("MalformedCall", "malformed_json", text, ARGS)]
        try:
            data = args if isinstance(args, dict) else dict(args)
            # Most calls are valid, and a yes or no is quick.
            if self._validator.is_valid(data):
                return []
            from selfcorrect.schema.findings import findings_of

            return findings_of(self._validator.iter_errors(data))
        except TooLargeError as error:
            return [own_finding("MalformedCall", "too_large", str(error), ARGS)]
        except (ValueError, TypeError, RecursionError) as error:
            text = f"the arguments cannot be read as JSON: {error!s:.100}"
            return [own_finding("MalformedCall", "malformed_json", text, ARGS)]

    @cached_property
    def slot(self) -> Slot:
        """The place of the arguments, for repairs."""
        return Slot.of(self.schema)

    @cached_property
    def _validator(self) -> Validator:
        try:
            return compile_schema(close(self.schema))
        except (ValueError, RecursionError) as error:
            raise ToolDefinitionError(
                f"tool {self.tool!r}: the schema of its arguments is unusable: {error!s:.400}"
            ) from None
