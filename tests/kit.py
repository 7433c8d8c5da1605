"""What the tests share: tools that fail as they are told, and runs in virtual time."""

import json
import re
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from ipaddress import IPv6Address
from pathlib import Path
from threading import Thread
from typing import Any, Literal, get_type_hints
from uuid import UUID

from langchain_core.messages import ToolMessage
from pydantic import AnyUrl, SecretStr

from selfcorrect import StrategyMap, ToolSpec
from selfcorrect.__main__ import main as main  # noqa: PLC0414  the command `selfcorrect`
from selfcorrect.testing import VirtualTime, play

INTEGER = {"type": "integer"}
TEXT = {"type": "string"}
DATE = {"type": "string", "format": "date"}
DATA = Path(__file__).parent / "data"
SECTION, COMMENT = re.compile(r"\[([a-z][^{}\"]*)\]"), re.compile("# [A-Z]")


def sections(file):
    """Return the lines of a data file by section, without its comments."""
    found, rows = {}, []
    for line in (DATA / file).read_text("utf-8").splitlines():
        if named := SECTION.fullmatch(line):
            rows = found.setdefault(named[1], [])
        elif line and not COMMENT.match(line):
            rows.append(line)
    return found


def table(file, section):
    """Return the rows of a section whose lines are JSON."""
    return [json.loads(row) for row in sections(file)[section]]


TYPES = (
    *(Any, Literal, Decimal, date, datetime, time, timedelta, UUID, Path, IPv6Address, AnyUrl),
    *(SecretStr, deque, Iterable, Sequence),
)


def type_of(text, *own):
    """Return the type that an annotation means; a file may name its own types."""

    def holder():
        """Hold the annotation."""

    holder.__annotations__ = {"x": text}
    return get_type_hints(holder, None, {each.__name__: each for each in (*TYPES, *own)})["x"]


class Answered(Exception):
    """What an HTTP client raises for a status."""

    def __init__(self, status, text="answered", retry_after=None):
        super().__init__(text)
        self.status_code = status
        self.retry_after = retry_after


class Tool:
    """A tool that plays a list of errors and values, and then answers "ok".

    Attributes:
        ran: The arguments of its executions.
        spec: The tool as the runtime takes it.
    """

    def __init__(self, *plays, name="t", effect="read_only", required=(), schema=None, **more):
        self.ran = []
        self._plays = list(plays)
        properties = {"q": INTEGER} if schema is None else schema
        parameters = {
            "type": "object",
            "properties": properties,
            "required": list(required),
            "additionalProperties": False,
        }
        described = {"name": name, "description": name, "parameters": parameters}
        self.spec = ToolSpec.from_schema(described, call=self._call, effect=effect, **more)

    def _call(self, **args):
        self.ran.append(args)
        item = self._plays.pop(0) if self._plays else "ok"
        if isinstance(item, BaseException):
            raise item
        return item


def run(tool, args=None, *, time=None, name="t", **options):
    """Run one call of a tool; return the output."""
    beside = {key: options.pop(key) for key in ("task_id", "request", "id") if key in options}
    call = {"name": name, "args": {} if args is None else args}
    if "id" in beside:
        call["id"] = beside.pop("id")
    return play([tool.spec], {"call": call, **beside}, time=time or VirtualTime(), **options)


def with_rules(*rules, **more):
    """Return the default map with rules of one's own before it."""
    return StrategyMap(list(rules), extends=["default"], **more)


def do_at_once(*works):
    """Do each work in a thread of its own, and wait for all."""
    threads = [Thread(target=work) for work in works]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def output_of(program):
    """Run a program of Python in a process of its own; return what it prints."""
    command, home = [sys.executable, "-c", program], DATA.parents[1]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=home)
    return done.stdout.strip()


def answers_in(messages):
    """Return the answers of tools in a thread."""
    return [each for each in messages if isinstance(each, ToolMessage)]


def nodes(out):
    """Return the nodes that a run went through."""
    return [event["node"] for event in out["trail"]]
