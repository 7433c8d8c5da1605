"""recall: what mended the same error of the same tool in recorded runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from selfcorrect.mapping.recalls import RecallEntry
from selfcorrect.model import ABSENT, JSON, Call, Change, Diagnosis, First, GiveUp, Repair, Safety
from selfcorrect.pointer import join
from selfcorrect.protocols import RepairContext, Tool
from selfcorrect.recalling.binding import Sources, Unbound, bound
from selfcorrect.recalling.named import joint_mark, schema_mark
from selfcorrect.recalling.template import Template, template


@dataclass(frozen=True, slots=True)
class Recall:
    """Does what mended this error before: calls of other tools first, edits of the call.

    What it proposes is of class `learned`. The loop makes a call of another tool unasked only where
    that tool reads or is idempotent; everything else becomes a sentence for the model.

    Attributes:
        entries: What was learnt, the `[[recall]]` of the map.

    >>> from selfcorrect.model import Finding
    >>> entry = RecallEntry(tool="write", error="No file '{args.file}'",
    ...     first=[{"tool": "touch", "args": {"file": "{args.file}"}}])
    >>> touch = type("Touch", (), {"name": "touch", "schema": {}})
    >>> repair = Recall((entry,))(Call("write", {"file": "a.txt"}),
    ...     Diagnosis((Finding("No file 'a.txt'"),)), RepairContext(tools={"touch": touch}))
    >>> repair.calls[0].args
    {'file': 'a.txt'}
    """

    name = "recall"
    safety = (Safety.LEARNED,)
    needs = "nothing"

    entries: tuple[RecallEntry, ...] = ()

    def __post_init__(self) -> None:
        """Put those first that more runs agree on."""
        ordered = sorted(self.entries, key=lambda each: (each.suggest, -each.agreement))
        object.__setattr__(self, "entries", tuple(ordered))

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Propose what mended the first finding."""
        known = [entry for entry in self.entries if entry.tool == call.name]
        if not known:
            return GiveUp("nothing was learnt about this tool")
        why = "nothing was learnt about this error"
        for form in template(diagnosis.text, call.args, call.name).forms:
            for entry in (each for each in known if each.error == form.text):
                meant = _meant(entry, form, call, context)
                if isinstance(meant, First):
                    return meant
                why = meant
        return GiveUp(why)


def _meant(entry: RecallEntry, form: Template, call: Call, context: RepairContext) -> First | str:
    """What an entry comes to for this call, or why it is skipped."""
    for step in entry.first:
        if step.tool not in context.tools:
            return f"{step.tool!r}, which came before it, is not on offer"
    tools = [context.tools[step.tool] for step in entry.first]
    present = (tool.schema for tool in (context.tool, *tools) if tool is not None)
    if entry.schemas is not None and joint_mark(map(schema_mark, present)) != entry.schemas:
        return f"the entry {entry.id} was learnt with other schemas of its tools: skipped"
    sources = Sources(call.args, form.values, context.request)
    try:
        steps = [
            Call(step.tool, dict(_bound(step.args, sources, tool)))
            for step, tool in zip(entry.first, tools, strict=True)
        ]
        edits = dict(_bound(entry.edits, sources, context.tool))
    except Unbound as unbound:
        return f"the entry {entry.id} does not fit this call: {unbound}"
    changes = tuple(_changes(call, edits, entry))
    if edits and not changes:
        return "the call is already as it was in recorded runs"
    told = f"came before it {entry.came_before}" if steps else f"it was so {entry.came_before}"
    return First(tuple(steps), changes, told, entry.id, entry.suggest)


def _bound(
    args: Mapping[str, JSON], sources: Sources, tool: Tool | None
) -> Iterator[tuple[str, JSON]]:
    known = (tool.schema.get("properties") if tool is not None else None) or {}
    for name, value in args.items():
        yield name, bound(value, sources, known.get(name))


def _changes(call: Call, edits: Mapping[str, JSON], entry: RecallEntry) -> Iterator[Change]:
    for name, value in edits.items():
        before = call.args.get(name, ABSENT)
        if before != value:
            reason = f"it was so {entry.came_before} that met this error"
            yield Change(join("args", name), before, value, Safety.LEARNED, reason)
