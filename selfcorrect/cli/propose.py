"""`selfcorrect propose`: a model proposes rules and recalls; gates decide what is written down."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from selfcorrect.batch.files import target
from selfcorrect.cli.options import Tools
from selfcorrect.cli.recorded import calls_of
from selfcorrect.cli.screen import console, refuse
from selfcorrect.kernel.texts import visible


def propose(
    logs: Annotated[
        list[str], typer.Argument(metavar="CALLS.jsonl...", help="Recorded runs; - is stdin.")
    ],
    model: Annotated[
        str,
        typer.Option(metavar="MODEL", help="provider:name for LangChain, or file.py:object."),
    ],
    out: Annotated[
        str, typer.Option("-o", "--out", metavar="MAP.toml", help="The map to write.")
    ] = "proposed.toml",
    strategies: Annotated[
        str | None, typer.Option(metavar="NAME|PATH", help="The map that it is proposed for.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Errors that the model is asked about.")] = 10,
    trust: Annotated[
        int,
        typer.Option(min=0, help="Tasks that let an entry out of quarantine; 0: only a person."),
    ] = 0,
    tools: Tools = None,
) -> None:
    """Let a model propose entries for errors that nothing settles, and write what passes the gates.

    The model reads errors without their values. An entry that passes only suggests, until a person
    takes its line `suggest = true` out, or as many tasks as --trust says speak for it.

    Exits with 1 if nothing passed.
    """
    from selfcorrect.learning.proposing import propose as ask
    from selfcorrect.learning.writing import as_toml
    from selfcorrect.mapping.loading import load_map

    screen = console(stderr=True)
    base = load_map(strategies)
    with calls_of(logs, out, tools) as found:
        result = ask(found.calls, _model(model), base, most=most, trust=trust)
    for each in result.proposals:
        verdict = each.verdict
        gate = "passed" if verdict.passed else f"refused at {verdict.gate}: {verdict.why}"
        text = f"{each.tool}: {each.error}\n  {gate}\n  {verdict.counts}"
        screen.print(visible(text), soft_wrap=True)
    with target(out) as file:
        extends = (strategies,) if strategies else ("default",)
        file.write(as_toml(result.entries, extends=extends))
    screen.print(f"{len(result.entries)} entries in {out}")
    raise typer.Exit(0 if result.entries else 1)


def _model(spec: str) -> Any:
    """The chat model that a command names."""
    place, colon, name = spec.rpartition(":")
    if colon and place.endswith(".py"):
        from pathlib import Path

        from selfcorrect.mapping.files import load_object

        try:
            return load_object(f"{place}:{name}", Path())
        except LookupError as error:
            refuse(f"--model: {error}")
    try:
        from langchain.chat_models import init_chat_model

        return init_chat_model(spec)
    except ImportError as error:
        refuse(f"--model {spec}: {error}; pip install langchain and the provider's package")
    except Exception as error:
        refuse(f"--model {spec}: {error}")
