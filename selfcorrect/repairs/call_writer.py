"""Asks a model what a text means that no rule can read: whether a call is meant, and which."""

from collections.abc import Mapping

from selfcorrect.model import Call, Change, Changed, GiveUp, JsonDict, Repair, Safety
from selfcorrect.models.port import ModelPort
from selfcorrect.models.prompts import Prompts
from selfcorrect.pointer import ARGS
from selfcorrect.protocols import RepairContext
from selfcorrect.reading.call_object import is_cut
from selfcorrect.text import bound, quote
from selfcorrect.tools.spec import ToolSpec

_MAX_TEXT = 4_000


async def write_call(
    call: Call, port: ModelPort, prompts: Prompts, context: RepairContext, rounds: int
) -> Repair:
    """Ask for the call that a text means, at most `rounds` times; the last answer counts too.

    A wrong answer is answered with what is wrong with it: no call, then the name of its tool, then
    its arguments. Whether a call is meant is asked too, and only `true` says so; but not where the
    call names its tool, or the model was made to call one.
    """
    if is_cut(context.finish_reason):
        return GiveUp("the text was cut off at the limit of tokens")
    tools = {call.name: context.tools[call.name]} if call.name in context.tools else context.tools
    is_meant = bool(call.name) or context.must_call
    write = prompts.write_meant if is_meant else prompts.write
    schemas = {each.name: each.parameters for each in tools.values()}
    prompt = [
        f"text: {quote(bound(str(call.args), _MAX_TEXT), 20_000)}",
        f"request: {quote(bound(context.request or '', _MAX_TEXT), 20_000)}",
        f"tools: {quote(schemas, 20_000)}",
    ]
    shape = prompts.shape_meant if is_meant else prompts.shape
    for _ in range(rounds):
        if not context.may_pay():
            break
        answer = await port.ask_json(write, "\n".join([*prompt, shape])) or {}
        says = is_meant or answer.get("call_is_meant")
        if says is False:
            return GiveUp("the model says that the text means no call")
        problem = _problem(answer, prompts, tools) if says is True and answer else prompts.no_call
        if problem is None:
            return Changed(_changes(answer, call))
        prompt += [f"you answered: {quote(answer, 1_000)}", problem]
    return GiveUp("the model writes no call that fits")


def _problem(answer: JsonDict, prompts: Prompts, tools: Mapping[str, ToolSpec]) -> str | None:
    """Return what the model is told about its answer, or None where it is a call that fits."""
    tool = tools.get(str(answer.get("name")))
    if tool is None:
        return prompts.no_tool.format(names=", ".join(tools))
    args = answer.get("arguments")
    fits = isinstance(args, Mapping) and tool.arguments.accepts(args)
    return None if fits else prompts.no_fit.format(name=tool.name)


def _changes(answer: JsonDict, call: Call) -> list[Change]:
    parts = {"/name": (call.name, answer["name"]), ARGS: (call.args, answer["arguments"])}
    return [
        Change(path, before, after, Safety.MODEL, "a model's answer")
        for path, (before, after) in parts.items()
        if after != before
    ]
