"""Calls in the logs of others: a line of our own, a chat, a run of LangSmith, spans."""

from collections.abc import Iterator, Mapping
from itertools import chain

from selfcorrect.effects import Outcome
from selfcorrect.model import JSON, JsonDict, JsonObject, frozen
from selfcorrect.reading.call_object import strict_json
from selfcorrect.threads.past_calls import past_calls


@frozen
class LoggedCall:
    """A call of a log.

    Attributes:
        run: What the calls of one run share.
        name: The tool, as the model wrote it.
        args: The arguments, or the text in their place.
        error: What the tool, or its caller, said; None for a call that ended well.
    """

    run: str
    name: str
    args: JSON
    error: str | None


def read_calls(record: JsonObject, run: str) -> Iterator[LoggedCall]:
    """Yield the calls of a line: a call, a chat with its answers, a run, or spans.

    Args:
        record: The line.
        run: What the calls share where the line names no run.
    """
    if "resourceSpans" in record:
        for span in _spans(record):
            yield from _of_span(span, run)
    elif "run_type" in record:
        if record["run_type"] == "tool":
            own = str(record.get("trace_id") or run)
            yield LoggedCall(own, record["name"], _read(record["inputs"]), record.get("error"))
    elif "messages" in record:
        own = str(record.get("id") or run)
        for past in past_calls(record["messages"]):
            # Without an answer nobody knows what became of it.
            if past.error is not None or past.outcome is Outcome.DONE:
                yield LoggedCall(own, past.name, past.args, past.error)
    else:
        own = str(record.get("task_id") or run)
        yield LoggedCall(own, record["tool"], _read(record["arguments"]), record.get("error"))


def read_tools(record: JsonObject) -> Iterator[JsonObject]:
    """Yield the schemas of tools that a line holds."""
    yield from record.get("tools") or ()
    if "schema" in record:
        effect = {"effect": record["effect"]} if record.get("effect") else {}
        yield {"name": record["tool"], "parameters": record["schema"], **effect}


def _of_span(span: JsonObject, run: str) -> Iterator[LoggedCall]:
    """Read a span of OpenTelemetry's conventions for GenAI."""
    rows = span.get("attributes") or ()
    values = {row["key"]: next(iter(row["value"].values())) for row in rows}
    status = span.get("status") or {}
    if name := values.get("gen_ai.tool.name"):
        is_error = status.get("code") in (2, "STATUS_CODE_ERROR")
        words = status.get("message") or values.get("error.type")
        args = _read(values.get("gen_ai.tool.call.arguments") or {})
        own = str(span.get("traceId") or run)
        yield LoggedCall(own, name, args, str(words or "error") if is_error else None)


def _spans(record: JsonObject) -> Iterator[JsonDict]:
    scopes = chain.from_iterable(each["scopeSpans"] for each in record["resourceSpans"])
    return chain.from_iterable(each["spans"] for each in scopes)


def _read(args: JSON) -> JSON:
    """Return arguments as the model wrote them: an object, or the text that is none."""
    if isinstance(args, Mapping) and args.keys() == {"input"}:
        args = args["input"]
    return strict_json(args) if isinstance(args, str) else args
