"""ask-human: a person decides; and how a person's answer is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, ClassVar, Final, TypeGuard

from selfcorrect.json_forms import change_from_json, to_json
from selfcorrect.model import (
    ABSENT,
    JSON,
    Ask,
    Call,
    Change,
    Changed,
    Diagnosis,
    Finding,
    GiveUp,
    Repair,
    Safety,
    Terminal,
)
from selfcorrect.plain import clean
from selfcorrect.pointer import join, look
from selfcorrect.protocols import RepairContext
from selfcorrect.reading import ToolCallKeys, read_call_object
from selfcorrect.redaction import literal, quoted
from selfcorrect.schema.places import Place, place_of
from selfcorrect.schema.subschema import same

_MOST_OPTIONS: Final = 20
_LONGEST: Final = 500
_REJECTED: Final = "rejected"
_NO: Final = ("reject", "rejected", "cancel")


@dataclass(frozen=True, slots=True)
class AskHuman:
    """Asks a person, with everything that is needed to decide: what, value now, what is allowed.

    What strategies proposed and the policy did not let run comes first among the options.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"cabin": {"enum": ["economy", "business"]}}}
    >>> ask = try_strategy(AskHuman(), schema, {"cabin": "premium"})
    >>> print(ask.question)
    Tool "tool": argument "cabin" is now "premium". The error: "argument 'cabin': not one of the
    allowed values". What should it be?
    >>> ask.options
    ('economy', 'business')
    """

    name: ClassVar[str] = "ask-human"
    safety: ClassVar[tuple[Safety, ...]] = (Safety.HUMAN,)
    needs: ClassVar[str] = "person"

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Ask about the first finding."""
        finding = diagnosis.finding
        place = place_of(call, finding, context)
        refused = context.proposals or tuple(map(tuple, _together(context.refused)))
        options = [
            option
            for option in _proposals(finding, refused)
            if isinstance(place, GiveUp) or _is_proposal(option) or place.fits(option)
        ]
        options += _values(finding, None if isinstance(place, GiveUp) else place, context)
        distinct: list[JSON] = []
        for option in options:
            if not any(same(option, old) for old in distinct):
                distinct.append(option)
        return Ask(_question(call, finding), tuple(distinct[:_MOST_OPTIONS]))


def _question(call: Call, finding: Finding) -> str:
    parts = [f"Tool {quoted(call.name, 80)}:"] if call.name else []
    told = f"The error: {literal(finding.text, _LONGEST)}."
    if finding.path == "/name":
        parts += ["there is no such tool.", told, "Which tool is meant?"]
    elif finding.path == "/raw":
        text = literal(call.raw or "", _LONGEST)
        parts += [f"a call could not be read: {text}.", told, "What should the call be?"]
    elif finding.params:
        value = look(call, finding.path or "")
        now = "missing" if value is ABSENT else f"now {literal(value, _LONGEST)}"
        parts += [
            f"argument {quoted(finding.params[0], 120)} is {now}.",
            told,
            "What should it be?",
        ]
    else:
        parts += ["it failed.", told, f"The arguments: {literal(dict(call.args), _LONGEST)}."]
        parts.append("How should the call be changed?")
    return " ".join(parts)


def _proposals(finding: Finding, refused: Sequence[Sequence[Change]]) -> Iterator[JSON]:
    """What was refused for this finding: a value, or all changes of one strategy together."""
    for changes in refused:
        if finding.path is not None and not any(c.path == finding.path for c in changes):
            continue
        alone = len(changes) == 1 and changes[0].path == finding.path
        if alone and changes[0].after is not ABSENT:
            yield changes[0].after
        else:
            yield to_json(list(changes))


def _together(refused: Sequence[Change]) -> Iterator[list[Change]]:
    """Changes that only make sense together: what a strategy takes away here and puts there."""
    for _, source in groupby(refused, key=lambda c: (c.strategy, c.rule, c.reason, c.safety)):
        changes = list(source)
        puts = [index for index, change in enumerate(changes) if change.after is not ABSENT]
        if len(puts) in (0, len(changes)):
            yield from ([change] for change in changes)
            continue
        start = 0
        for index, change in enumerate(changes):
            if index > start and change.after is ABSENT and index - 1 in puts:
                yield changes[start:index]
                start = index
        yield changes[start:]


def _values(finding: Finding, place: Place | None, context: RepairContext) -> list[JSON]:
    if finding.path == "/name":
        named = [name for name in finding.suggestions if name in context.tools]
        return [*named, *list(context.tools)[:_MOST_OPTIONS]]
    values = list(finding.suggestions)[:_MOST_OPTIONS]
    if place is None:
        return values
    if isinstance(place.value, str) and not place.members:
        # A suggestion for one name inside a long text would replace the whole text.
        values = [v for v in values if not isinstance(v, str) or 2 * len(v) >= len(place.value)]
    # A person is never offered what the check would refuse afterwards.
    return [value for value in (*values, *place.members[:_MOST_OPTIONS]) if place.fits(value)]


def read_answer(answer: JSON, call: Call, finding: Finding, options: Sequence[JSON] = ()) -> Repair:
    """A person's answer as a repair, of class `human`.

    Args:
        answer: `{"action": "approve"}` takes the only option; `{"action": "choose", "choice": …}`
            an option, by index or by value; `{"action": "answer", "value": …}`, or a bare value,
            goes to the argument at fault; `{"action": "edit"}` brings `args`, `call` or `value`;
            `{"action": "reject"}`, or null, ends the run.
        call: The call as it stands.
        finding: What was asked about.
        options: What there was to choose from.

    >>> finding = Finding("missing", paths=("/args/passengers",))
    >>> read_answer(2, Call("book"), finding).changes[0].after
    2
    >>> read_answer(None, Call("book"), finding)
    Terminal(reason='rejected')
    """
    if _says_no(answer):
        why = answer.get("reason") if isinstance(answer, Mapping) else None
        return Terminal(f"rejected: {clean(why[:_LONGEST])}" if _is_text(why) else _REJECTED)
    if not isinstance(answer, Mapping) or "action" not in answer:
        return _at_fault(answer, call, finding)
    match answer["action"]:
        case "approve":
            if len(options) != 1:
                return GiveUp(f"there is not one proposal to approve, but {len(options)}")
            return _chosen(options[0], call, finding)
        case "choose":
            return _choice(answer.get("choice", ABSENT), call, finding, options)
        case "edit" if "value" not in answer:
            return _edited(answer, call)
    if answer["action"] not in ("answer", "edit"):
        return GiveUp("the answer has an unknown action")
    if "value" not in answer:
        return GiveUp("the answer holds no value")
    return _at_fault(answer["value"], call, finding)


def _says_no(answer: JSON) -> bool:
    """A rejection in any of its spellings; as the text of an argument it is never run."""
    if isinstance(answer, Mapping):
        answer = answer.get("action", answer.get("type", ""))
    return answer is None or (isinstance(answer, str) and answer.strip().lower() in _NO)


def _is_text(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value.strip())


def _choice(choice: JSON, call: Call, finding: Finding, options: Sequence[JSON]) -> Repair:
    for option in options:
        if choice is not ABSENT and type(option) is type(choice) and same(option, choice):
            return _chosen(option, call, finding)
    if isinstance(choice, int) and not isinstance(choice, bool) and 0 <= choice < len(options):
        return _chosen(options[choice], call, finding)
    return GiveUp("the answer chooses nothing that was offered")


def _chosen(option: JSON, call: Call, finding: Finding) -> Repair:
    if not _is_proposal(option):
        return _at_fault(option, call, finding)
    try:
        proposed = [change_from_json(item) for item in option]
    except (KeyError, ValueError):
        return GiveUp("the option cannot be read")
    return Changed([_human(call, change.path, change.after) for change in proposed])


def _is_proposal(option: JSON) -> bool:
    """Whether an option is a list of changes rather than a value."""
    return (
        isinstance(option, list | tuple)
        and bool(option)
        and all(isinstance(item, Mapping) and item.keys() >= _CHANGE for item in option)
    )


_CHANGE: Final = frozenset({"path", "safety", "reason"})


def _at_fault(value: JSON, call: Call, finding: Finding) -> Repair:
    """The value at the place that was asked about."""
    path = finding.path
    if path is None or not (path == "/name" or path.startswith("/args/")):
        return GiveUp("the question is about the whole call: answer with an edit")
    if path == "/name" and not _is_text(value):
        return GiveUp("a tool's name is text")
    return Changed(_human(call, path, value))


def _edited(answer: Mapping[str, Any], call: Call) -> Repair:
    """A whole call, or all its arguments, as a person wrote them."""
    if isinstance(answer.get("call"), Mapping):
        edited = read_call_object(answer["call"])
        if edited is None or edited.raw is not None:
            return GiveUp("the edited call cannot be read")
        name, args = edited.name or call.name, edited.args
    else:
        given = [answer[key] for key in ToolCallKeys().arguments if key in answer]
        if len(given) != 1 or not isinstance(given[0], Mapping):
            return GiveUp("an edit brings args, call or value")
        name, args = call.name, given[0]
    changes = [_human(call, "/name", name)] if name != call.name else []
    for key in (*call.args, *(key for key in args if key not in call.args)):
        after = args.get(key, ABSENT)
        before = call.args.get(key, ABSENT)
        if type(before) is not type(after) or not same(before, after):
            changes.append(_human(call, join("args", key), after))
    if call.raw is not None:
        changes.append(_human(call, "/raw", ABSENT))
    return Changed(changes) if changes else GiveUp("the edit changes nothing")


def _human(call: Call, path: str, after: JSON) -> Change:
    return Change(path, look(call, path), after, Safety.HUMAN, "a person's answer")
