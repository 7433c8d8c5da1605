"""What a model can do with what it is told: failed calls, and the text is all that can help.

    python tests/benchmarks/told.py [--show] [--texts RUNTIME]

The model obeys (`obedient.py`): it does what the text of a failure tells it, and nothing else. The
tasks and their tools are in `told_tasks.py`. A task ended right if exactly what was asked for was
done, in time, or if the user was told or asked what there was to know. pydantic-ai and json-repair
are measured where they are installed; trustcall runs no tools, so it has nothing to tell of them.

`--show` prints every task; `--texts`, what the model read under one runtime.
"""

from __future__ import annotations

import argparse
import asyncio
import copy
import functools
import json
import logging
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

import told_answers  # noqa: F401 -- enters its tasks
from langchain.agents import create_agent
from langchain.agents.middleware import ToolErrorMiddleware, ToolRetryMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.prebuilt import ToolNode
from obedient import MOST_TURNS, Call, End, Obedient, Tool, asking
from peers import loop
from told_tasks import TASKS, Kit, Task, World

from selfcorrect import SelfCorrection

STEPS = 4 * MOST_TURNS


@dataclass
class Seen:
    """What one run came to."""

    world: World
    turns: int
    end: End
    words: str = ""
    died: str = ""
    texts: list[str] = field(default_factory=list)


class Model(BaseChatModel):
    """The obedient model as a LangChain model."""

    mind: Any
    texts: Any

    @property
    def _llm_type(self) -> str:
        return "obedient"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        self.mind.tools = {}
        for each in tools:
            told = convert_to_openai_tool(each)["function"]
            made = Tool.of(told["name"], told.get("description", ""), told["parameters"])
            self.mind.tools[made.name] = made
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        said = self.mind.next(self._read(messages))
        message = message_of(said, self.mind.turns)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _read(self, messages: list[BaseMessage]) -> list[str]:
        """What was said since the model spoke last."""
        spoke = max((n for n, m in enumerate(messages) if isinstance(m, AIMessage)), default=-1)
        new = [str(message.text) for message in messages[spoke + 1 :]]
        if spoke >= 0:
            self.texts.append("\n".join(new))
        return new


def message_of(said: Call | str, number: int) -> AIMessage:
    """A call, or words, as the model's message."""
    if isinstance(said, str):
        return AIMessage(said)
    call = {"name": said.name, "args": said.args, "id": f"call_{number}"}
    if isinstance(said.args, str):
        return AIMessage("", invalid_tool_calls=[{**call, "error": "no JSON"}])
    return AIMessage("", tool_calls=[copy.deepcopy(call)])


Runtime = Callable[[Task], Seen]


def run(task: Task, world: World, build: Callable[[Any, list[Any]], Any]) -> Seen:
    """One run of the graph that `build` makes of a model and tools."""
    mind, texts = Obedient(task.part, world.wait), list[str]()
    model = Model(mind=mind, texts=texts)
    tools = [kit.as_tool() for kit in task.make(world)]
    model.bind_tools(tools)
    ask = {"messages": [HumanMessage(task.part.request)]}
    try:
        graph = build(model, tools)
        config = {"recursion_limit": STEPS}
        if task.is_async:
            out = asyncio.run(graph.ainvoke(ask, config))
        else:
            out = graph.invoke(ask, config)
    except Exception as error:
        return died(error, world, mind, texts)
    last = out["messages"][-1]
    words = str(last.text) if isinstance(last, AIMessage) else ""
    return Seen(world, mind.turns, mind.end or end_of(words), words, texts=texts)


def died(error: Exception, world: World, mind: Obedient, texts: list[str]) -> Seen:
    """A run that ended in an exception."""
    return Seen(world, mind.turns, "", died=f"{type(error).__name__}: {error}", texts=texts)


def end_of(words: str) -> End:
    """How a run ended in which the runtime had the last word."""
    if not words.strip():
        return ""
    return "asked" if "?" in words or asking(words) == "plainly" else "told"


def agent(*middleware: Callable[[], Any]) -> Runtime:
    """An agent with this middleware."""

    def once(task: Task) -> Seen:
        made = [each() for each in middleware]
        return run(task, World(), lambda model, tools: create_agent(model, tools, middleware=made))

    return once


def tool_node(task: Task) -> Seen:
    def build(model: Any, tools: list[Any]) -> Any:
        return loop(model.invoke, ToolNode(tools, handle_tool_errors=True))

    return run(task, World(), build)


def json_repair_and_tool_node(task: Task) -> Seen:
    import json_repair

    def build(model: Any, tools: list[Any]) -> Any:
        def ask(messages: Any) -> AIMessage:
            message = model.invoke(messages)
            calls = list(message.tool_calls)
            for broken in message.invalid_tool_calls:
                args = json_repair.loads(broken["args"] or "")
                calls.append({"name": broken["name"], "args": args, "id": broken["id"]})
            return AIMessage(message.content, tool_calls=calls, id=message.id)

        return loop(ask, ToolNode(tools, handle_tool_errors=True))

    return run(task, World(), build)


def pydantic_ai_agent(told: tuple[type[Exception], ...]) -> Runtime:
    """An agent of pydantic-ai, whose tools hand these errors to the model by `ModelRetry`."""

    def once(task: Task) -> Seen:
        from pydantic_ai import Agent
        from pydantic_ai.models.function import FunctionModel

        world, texts = World(), list[str]()
        mind = Obedient(task.part, world.wait)

        def write(messages: list[Any], info: Any) -> Any:
            return respond(mind, texts, messages, info)

        tools = [pydantic_tool(kit, told) for kit in task.make(world)]
        built = Agent(FunctionModel(write), tools=tools, retries=2)
        try:
            out = asyncio.run(built.run(task.part.request))
        except Exception as error:
            return died(error, world, mind, texts)
        return Seen(world, mind.turns, mind.end, out.output, texts=texts)

    return once


def pydantic_tool(kit: Kit, told: tuple[type[Exception], ...]) -> Any:
    """The tool as pydantic-ai has it; a server's tool is checked by nobody but the server."""
    from pydantic_ai import ModelRetry
    from pydantic_ai import Tool as PydanticTool

    @functools.wraps(kit.run)
    def tells(*args: Any, **kwargs: Any) -> Any:
        try:
            return kit.run(*args, **kwargs)
        except told as error:
            raise ModelRetry(str(error)) from error

    @functools.wraps(kit.run)
    async def awaits(*args: Any, **kwargs: Any) -> Any:
        try:
            return await kit.run(*args, **kwargs)
        except told as error:
            raise ModelRetry(str(error)) from error

    run = awaits if asyncio.iscoroutinefunction(kit.run) else tells
    if kit.shape != "server":
        return PydanticTool(run)
    made = kit.as_tool()
    schema: Any = made.args_schema
    return PydanticTool.from_schema(run, made.name, made.description, dict(schema))


def respond(mind: Obedient, texts: list[str], messages: list[Any], info: Any) -> Any:
    """What the obedient model answers, as pydantic-ai has it."""
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart

    mind.tools = {
        each.name: Tool.of(each.name, each.description or "", each.parameters_json_schema)
        for each in info.function_tools
    }
    kinds = ("tool-return", "retry-prompt", "user-prompt")
    new = [heard(part) for part in messages[-1].parts if part.part_kind in kinds]
    if mind.turns:
        texts.append("\n".join(new))
    said = mind.next(new)
    if isinstance(said, str):
        return ModelResponse(parts=[TextPart(said)])
    args = copy.deepcopy(said.args)
    return ModelResponse(parts=[ToolCallPart(said.name, args, f"call_{mind.turns}")])


def heard(part: Any) -> str:
    """A part of a message as pydantic-ai hands it to a provider."""
    if part.part_kind == "retry-prompt":
        return str(part.model_response())
    return str(part.model_response_str()) if part.part_kind == "tool-return" else str(part.content)


def written(value: Any) -> str:
    """A value as a model reads it."""
    return value if isinstance(value, str) else json.dumps(value)


def ideal(task: Task) -> Seen:
    """No runtime: the task's own texts stand in for what one would tell of its failures."""
    world = World()
    mind, texts = Obedient(task.part, world.wait), list(task.ideal)
    tools = {kit.run.__name__: kit.as_tool() for kit in task.make(world)}
    Model(mind=mind, texts=[]).bind_tools(list(tools.values()))
    said, read = mind.next([task.part.request]), []
    while isinstance(said, Call):
        before = len(world.done)
        try:
            tool = tools[said.name]
            if isinstance(said.args, str) or not set(said.args) <= set(
                mind.tools[said.name].places
            ):
                raise TypeError("these are not its arguments")  # noqa: TRY301
            result = (
                asyncio.run(tool.ainvoke(said.args)) if task.is_async else tool.invoke(said.args)
            )
            failed = len(world.done) == before
        except Exception:
            result, failed = "", True
        read.append((texts.pop(0) if len(texts) > 1 else texts[0]) if failed else written(result))
        said = mind.next([read[-1]])
    return Seen(world, mind.turns, mind.end, said, texts=read)


OURS = "selfcorrect (SelfCorrection)"
RUNTIMES: dict[str, tuple[Runtime, str]] = {
    OURS: (agent(SelfCorrection), "selfcorrect"),
    "create_agent": (agent(), "langchain"),
    "create_agent + ToolErrorMiddleware": (
        agent(lambda: ToolErrorMiddleware(lambda error, _request: str(error))),
        "langchain",
    ),
    "create_agent + ToolRetryMiddleware": (
        agent(lambda: ToolRetryMiddleware(max_retries=2, initial_delay=0.0, jitter=False)),
        "langchain",
    ),
    "ToolNode(handle_tool_errors=True)": (tool_node, "langgraph"),
    "json-repair + ToolNode": (json_repair_and_tool_node, "json-repair"),
    "pydantic-ai": (pydantic_ai_agent((ToolException,)), "pydantic-ai-slim"),
    "pydantic-ai, every error a ModelRetry": (pydantic_ai_agent((Exception,)), "pydantic-ai-slim"),
}


def wrong(task: Task, seen: Seen) -> int:
    """What was done beyond what was wanted, or more than once."""
    done = Counter(map(repr, seen.world.done))
    return (done - Counter(map(repr, task.wanted))).total()


def faults(task: Task, seen: Seen) -> str:
    """Why the task did not end right; nothing if it did."""
    if seen.died:
        return f"died: {seen.died}"
    if seen.world.done != task.wanted:
        return f"done: {seen.world.done}"
    if seen.end not in task.ends:
        return f"ended {seen.end or 'silently'}, not {' or '.join(task.ends)}"
    for each in task.words:
        if not re.search(each, seen.words, re.IGNORECASE):
            return f"the user was not told: {each}"
    for each in task.unsaid:
        if re.search(each, "\n".join(seen.texts), re.IGNORECASE):
            return f"the model was told: {each}"
    if seen.world.runs > task.most:
        return f"executed {seen.world.runs} times"
    return ""


def measured(runtime: Runtime, tasks: Sequence[Task]) -> list[tuple[Task, Seen, str]]:
    """Every task under one runtime: what was seen, and what was not right."""
    rows = []
    for task in tasks:
        seen = runtime(task)
        rows.append((task, seen, faults(task, seen)))
    return rows


def is_there(package: str) -> str:
    """The version of a package, or nothing."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--texts", metavar="RUNTIME")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    chosen = {
        name: each
        for name, each in RUNTIMES.items()
        if (each[1] == "selfcorrect" or is_there(each[1])) and (options.texts or "") in name
    }
    results = {name: measured(runtime, TASKS) for name, (runtime, _) in chosen.items()}
    if options.texts:
        return print_texts(results)
    heads = [
        f"ended right (of {len(TASKS)})",
        "turns",
        "turns for each that ended right",
        "wrong executions",
        "executions",
        "runs that died",
    ]
    print(f"| | {' | '.join(heads)} |")
    print(f"| --- |{' ---: |' * len(heads)}")
    for name, rows in results.items():
        package = chosen[name][1]
        label = name if package == "selfcorrect" else f"{name} ({package} {is_there(package)})"
        right = sum(not fault for _, _, fault in rows)
        turns = sum(seen.turns for _, seen, _ in rows)
        cells = [
            right,
            turns,
            f"{turns / max(1, right):.1f}",
            sum(wrong(task, seen) for task, seen, _ in rows),
            sum(seen.world.runs for _, seen, _ in rows),
            sum(bool(seen.died) for _, seen, _ in rows),
        ]
        print(f"| {label} | {' | '.join(map(str, cells))} |")
    if options.show:
        print_families(results)
    return None


def print_families(results: dict[str, list[tuple[Task, Seen, str]]]) -> None:
    """Tasks ended right and turns by family, then every task that did not end right."""
    families = list(dict.fromkeys(task.family for task in TASKS))
    print(f"\n| ended right, turns | {' | '.join(families)} |")
    print(f"| --- |{' ---: |' * len(families)}")
    for name, rows in results.items():
        cells = []
        for family in families:
            mine = [(seen, fault) for task, seen, fault in rows if task.family == family]
            right = sum(not fault for _, fault in mine)
            cells.append(f"{right} of {len(mine)}, {sum(seen.turns for seen, _ in mine)}")
        print(f"| {name} | {' | '.join(cells)} |")
    for name, rows in results.items():
        print(f"\n{name}")
        for task, _, fault in rows:
            if fault:
                print(f"  {task.family}: {task.title}: {' '.join(fault.split())[:150]}")


def print_texts(results: dict[str, list[tuple[Task, Seen, str]]]) -> None:
    """What the model read, task by task."""
    for name, rows in results.items():
        for task, seen, fault in rows:
            print(f"\n== {name}: {task.title}: {fault or 'right'}, {seen.turns} turns")
            print("\n--\n".join(seen.texts))
            print(f"-> {seen.end}: {seen.words[:200]}")


if __name__ == "__main__":
    main()
