"""Checks arguments against the schema that the model was sent."""

from collections.abc import Mapping

from selfcorrect.errors import TooLargeError
from selfcorrect.model import JSON, Finding, own_finding
from selfcorrect.pointer import ARGS
from selfcorrect.schema.slot import Slot
from selfcorrect.text import quote


def check_arguments(args: JSON, slot: Slot) -> list[Finding]:
    """Return what is wrong with arguments: one finding for each place."""
    if not isinstance(args, Mapping):
        text = f"the arguments must be a JSON object; {quote(args)} is not"
        return [own_finding("MalformedCall", "malformed_json", text, ARGS)]
    try:
        data = args if isinstance(args, dict) else dict(args)
        # Most calls are valid, and a yes or no is quick.
        if slot.validator.is_valid(data):
            return []
        from selfcorrect.schema.findings import findings_of

        return findings_of(data, slot)
    except TooLargeError as error:
        return [own_finding("MalformedCall", "too_large", str(error), ARGS)]
    except (ValueError, TypeError, RecursionError) as error:
        text = f"the arguments cannot be read as JSON: {error!s:.100}"
        return [own_finding("MalformedCall", "malformed_json", text, ARGS)]
