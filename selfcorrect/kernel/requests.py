"""Whether an answer may hold a call at all: what its request allows, and how it ended.

Every host asks here, before anything is read, mended or made. Prose decides nothing: it is the
request's own settings and the provider's own marks that say that an answer is no call.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from selfcorrect.model import JSON, JsonObject

NOT_ALLOWED: Final = "not_allowed"
"""The code of the finding that says why an answer holds no call."""
REFUSED: Final = "refusal"
"""The reason for stopping of an answer whose provider marks it as a refusal."""
REFUSED_REASONS: Final = frozenset(
    {"content_filter", "content_filtered"}  # OpenAI, Azure, Mistral; Bedrock
    | {REFUSED, "guardrail_intervened", "error_toxic", "sensitive"}  # Anthropic, Cohere, Zhipu
    | {"safety", "recitation", "blocklist", "prohibited_content", "spii"}  # Gemini
    | {"image_safety", "image_prohibited_content", "image_recitation", "unexpected_tool_call"}
)
"""What providers call it when they end an answer that is not to have any effect."""
_CONFIGS: Final = (
    *("function_calling_config", "functionCallingConfig", "tool_config", "toolConfig"),
)
"""Where a tool choice stands among other settings."""
_MODES: Final = frozenset({"auto", "any", "none", "required", "validated", "mode_unspecified"})
"""What a tool choice says in place of a tool's name."""
_OURS: Final = frozenset({"function", "tool", "custom", "allowed_tools"})
"""The types of a tool choice that names tools of the request; every other is a provider's own."""
_FORMATS: Final = ("format", "json_schema")
"""What stands around the schema of an answer."""
_ELSEWHERE: Final = ("hosted", "informational_only", "provider_executed", "providerExecuted")
"""How providers and frameworks mark a call that they make themselves."""

Fits: TypeAlias = Callable[[JsonObject, JSON], bool]
"""Whether a value fits a JSON Schema."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a request allows its answer to be, and how the answer ended.

    Attributes:
        tool_choice: As the request has it, in any provider's form.
        finish_reason: Why the model stopped, in the provider's word; `REFUSED` where the message
            is marked as a refusal.
        answer: The form that the answer is to have: a JSON Schema, or a provider's response format;
            True where there is one that nobody can check.
    """

    tool_choice: JSON = None
    finish_reason: str | None = None
    answer: JSON = None

    @property
    def schema(self) -> JsonObject | bool:
        """The schema of the answer; True where it has a form without one, False without a form."""
        return _schema(self.answer)


def why_no_call(
    request: Request,
    values: Sequence[JSON] | None = None,
    fits: Fits | None = None,
    names: Collection[str] = (),
    offered: Collection[str] = (),
) -> str | None:
    """Why an answer to this request holds no call, in whatever form it was written; None if it may.

    Args:
        request: What was asked for.
        values: Of calls that stand in a text, the values that they would be made of, and all of
            them as one; empty where the text cannot be read. None: the provider's own calls.
        fits: The schema's own check.
        names: The tools of the calls.
        offered: The tools of the request, for the provider's own calls: law 5 judges every other
            name, and beside a tool that the provider runs itself it may call any of them.

    >>> why_no_call(Request({"type": "none"}))
    'the request allows no tool call (its tool choice is none)'
    >>> why_no_call(Request("auto", "FinishReason.SAFETY"))
    "the provider ended the answer without a call (its reason is 'safety')"
    >>> why_no_call(Request(answer={"properties": {"to": {}}}), [{"to": "ann"}])
    'the request asks for a structured answer, and the text is that answer'
    >>> why_no_call(Request("pay"), names=["refund"], offered=["pay", "refund"])
    "the request asks for a call of 'pay' alone"
    """
    # What a provider refused to say is not to happen either, however whole it looks.
    if is_refusal(request.finish_reason):
        reason = spelled(request.finish_reason)
        return f"the provider ended the answer without a call (its reason is {reason!r})"
    # Who forbade calls does not expect one to be made of words.
    if _is_none(request.tool_choice):
        return "the request allows no tool call (its tool choice is none)"
    # Who asked for one tool has not asked for what another one does.
    wanted = tools_named(request.tool_choice)
    if values is None:
        wanted, names = ([one for one in each if one in offered] for each in (wanted, names))
    if wanted and not set(names) <= set(wanted):
        return asks_for(wanted)
    # What somebody asked for as data has no effect.
    if values is not None and _is_answer(request.schema, values, fits):
        return "the request asks for a structured answer, and the text is that answer"
    return None


def is_refusal(reason: str | None) -> bool:
    """Whether a provider ended an answer so that nothing may come of it.

    >>> is_refusal("PROHIBITED_CONTENT"), is_refusal("content-filter"), is_refusal("stop")
    (True, True, False)
    """
    return spelled(reason) in REFUSED_REASONS


def spelled(reason: str | None) -> str:
    """A reason for stopping in one spelling: without the name of an enum, case and dashes.

    >>> spelled("FinishReason.MAX_TOKENS"), spelled("tool-calls")
    ('max_tokens', 'tool_calls')
    """
    return (reason or "").strip().lower().rpartition(".")[2].replace("-", "_")


def runs_elsewhere(call: Any) -> bool:
    """Whether a call, an object of JSON or of an SDK, says that its provider makes it.

    >>> runs_elsewhere({"name": "search", "informational_only": True})
    True
    """
    if isinstance(call, Mapping):
        return any(call.get(key) is True for key in _ELSEWHERE)
    return any(getattr(call, key, None) is True for key in _ELSEWHERE)


def tools_named(choice: JSON) -> list[str]:
    """The tools that a choice names, in any provider's form; a mode is none.

    >>> tools_named({"type": "function", "function": {"name": "pay"}})
    ['pay']
    >>> tools_named({"type": "web_search"})
    ['web_search']
    """
    if isinstance(choice, str):
        return [] if spelled(choice) in _MODES else [choice]
    if isinstance(choice, Mapping):
        kind = choice.get("type")
        if isinstance(kind, str) and spelled(kind) not in _MODES | _OURS:
            return [kind]
        inner = [choice[key] for key in _CONFIGS if key in choice]
        choice = inner or [each for key, each in choice.items() if key not in ("type", "mode")]
    listed = choice if isinstance(choice, list) else ()
    return [name for each in listed for name in tools_named(each)]


def asks_for(wanted: Sequence[str]) -> str:
    """What is wrong with a call of another tool than those that a choice names."""
    return f"the request asks for a call of {', '.join(map(repr, wanted))} alone"


def _is_none(choice: JSON) -> bool:
    if isinstance(choice, Mapping):
        # Gemini's own list of names may be empty where it names none: then it bars none.
        if any(choice.get(key) == [] for key in ("tools", "function_tools")):
            return True
        return any(
            _is_none(choice.get(key)) for key in ("type", "mode", "allowed_tools", *_CONFIGS)
        )
    return isinstance(choice, str) and spelled(choice) == "none"


def _schema(answer: JSON) -> JsonObject | bool:
    if not isinstance(answer, Mapping):
        # Some write "json", others "text" or nothing.
        return spelled(answer) != "text" if isinstance(answer, str) else bool(answer)
    inner = next((answer[key] for key in _FORMATS if isinstance(answer.get(key), Mapping)), answer)
    if inner is not answer:
        return _schema(inner)
    if isinstance(schema := answer.get("schema"), Mapping):
        return schema
    kind = answer.get("type")
    return kind != "text" if kind in ("text", "json_object", "json_schema") else answer


def _is_answer(schema: JsonObject | bool, values: Sequence[JSON], fits: Fits | None) -> bool:
    if isinstance(schema, bool) or not values:
        return schema is not False
    # An answer in a list is misspelt, and no call either.
    items = [item for each in values if isinstance(each, list) for item in each]
    return any(
        _is_meant(schema, each) or (fits and fits(schema, each)) for each in (*values, *items)
    )


def _is_meant(schema: JSON, value: JSON, *, is_part: bool = False) -> bool:
    """Whether a value is the answer or a part of it, with a fault: that is no call either."""
    if isinstance(schema, list):
        return any(_is_meant(each, value, is_part=is_part) for each in schema)
    if not isinstance(schema, Mapping) or not isinstance(value, Mapping) or not value:
        return False
    names, needed = schema.get("properties"), schema.get("required")
    if isinstance(names, Mapping):
        needed = {str(each) for each in needed} if isinstance(needed, list) else set()
        # A part that needs one name alone may need that of a call.
        is_whole = len(needed) > is_part and value.keys() >= needed
        if is_whole or value.keys() <= names.keys():
            return True
    return any(_is_meant(each, value, is_part=True) for each in schema.values())
