"""What a framework asked its model, and how the answer ended: the facts that decide on calls."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_origin

from pydantic import PydanticUndefinedAnnotation, PydanticUserError, TypeAdapter

from selfcorrect.forms.endings import is_marked_refused, reasons_said
from selfcorrect.kernel.requests import REFUSED, Request, is_refusal
from selfcorrect.model import JSON
from selfcorrect.plain import plain
from selfcorrect.tools.gemini import as_json_schema


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to a model, in the words of no framework.

    Attributes:
        tools: The tools that the framework runs, each `{"name", "description", "parameters"}`.
        allows: What it allows its answer to be, and how that ended.
        settled: Names that the framework does not run, and ids of calls that are answered.
    """

    tools: tuple[Mapping[str, Any], ...]
    allows: Request
    settled: frozenset[Any]

    def ended(self, reason: Any = None, *said: Any) -> Asked:
        """The same request, with how its answer ended.

        Args:
            reason: Why the model stopped, in the framework's word.
            said: Objects of the provider that may say so, or mark a refusal.
        """
        told = [] if reason is None else [str(getattr(reason, "value", reason))]
        for each in said:
            told += [REFUSED] if is_marked_refused(each) else []
            told += reasons_said(each)
        # A refusal anywhere counts: nothing of such an answer is to happen.
        why = next(filter(is_refusal, told), next(iter(told), None))
        return replace(self, allows=replace(self.allows, finish_reason=why))


def asked(
    tools: Iterable[Mapping[str, Any]],
    tool_choice: Any = None,
    answer: Any = None,
    settled: Collection[Any] = (),
) -> Asked:
    """A request, from what a framework has of it.

    Args:
        tools: The tools that the framework runs.
        tool_choice: What the request says of calls, in any provider's form.
        answer: The form that the answer is to have: a schema, a type or a response format; True
            where there is one that nobody can check.
        settled: Names and ids of calls that are not the framework's to run.
    """
    allows = Request(plain(tool_choice), None, _form(answer))
    return Asked(tuple(tools), allows, frozenset(settled) - {None})


def any_of(schemas: Iterable[Mapping[str, Any] | None]) -> Mapping[str, Any] | None:
    """One form of an answer that may have any of several; None if there is none."""
    forms = [schema for schema in schemas if schema]
    if len(forms) < 2:
        return next(iter(forms), None)
    # Their names stand beside: a faulty answer is known by them, and is no call either.
    names: dict[str, Any] = {name: {} for form in forms for name in form.get("properties", ())}
    return {"anyOf": forms, "properties": names}


def _form(answer: Any) -> JSON:
    """A form of an answer as plain JSON, with its schema as JSON Schema."""
    if isinstance(answer, type) or get_origin(answer) is not None:
        try:
            return TypeAdapter(answer).json_schema()
        except (PydanticUserError, PydanticUndefinedAnnotation):
            return True  # there is a form, though nobody can check it
    dump = getattr(answer, "model_dump", None)
    form = answer if dump is None else dump(mode="json", by_alias=True, exclude_none=True)
    return plain(as_json_schema(form))
