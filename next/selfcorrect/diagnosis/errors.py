"""`diagnose_error`: the one way from an error to its diagnosis, whoever asks."""

from selfcorrect.model import JSON, Finding, JsonObject
from selfcorrect.pointer import pointer
from selfcorrect.strategy_map.match import is_own
from selfcorrect.strategy_map.strategy_map import StrategyMap


def diagnose_error(
    strategies: StrategyMap,
    finding: Finding,
    tool: str | None = None,
    *,
    args: JSON = None,
    schema: JsonObject | None = None,
    acts: bool = False,
) -> list[Finding]:
    """Return one finding for each fault that an error lists, the first one first.

    Args:
        strategies: The map.
        finding: The error as it was seen.
        tool: The tool's name.
        args: The arguments of the call.
        schema: Their schema.
        acts: Whether the tool has side effects.
    """
    parts = [finding] if is_own(finding) else _faults(finding, args, schema)
    return [strategies.diagnose(each, tool, args=args, schema=schema, acts=acts) for each in parts]


def _faults(finding: Finding, args: JSON, schema: JsonObject | None) -> list[Finding]:
    """Return a finding for each place that the body of an error names, or the finding alone."""
    from selfcorrect.diagnosis.body import body_of
    from selfcorrect.diagnosis.parameters import locate, places_of
    from selfcorrect.diagnosis.sentence import plain

    text = finding.get("text", "")
    is_plain = "{" not in text and "[" not in text
    faults = () if is_plain or finding.get("paths") else body_of(plain(text)).faults
    if len(faults) < 2:
        return [finding]
    places = places_of(args, schema)
    found: dict[str, Finding] = {}
    for fault in faults:
        path = locate(fault.place, places)
        if path is not None and path not in found:
            keys = places.keys.get(path, tuple(path.split(".")))
            one: Finding = {**finding, "paths": [pointer(*keys)]}
            # The first one speaks for the whole error; each of the others for its place.
            found[path] = {**one, "text": fault.sentence, "code": fault.code} if found else one
    return list(found.values()) if len(found) > 1 else [finding]
