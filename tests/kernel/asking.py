"""The one place where these tests touch the kernel: what they ask it, and what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oracle import may_run

from selfcorrect.tools import ToolSpec

RUNS_UNASKED = frozenset({"exact", "inferred"})
"""The classes that run without anybody's word."""

Answer = tuple[str, tuple[str, ...]]
"""The class, and the reasons in words."""

Written = tuple[str, Any]
"""A tool's name and arguments."""


def ask(
    written: Written, runs: Written, tool: ToolSpec, tools: Sequence[ToolSpec] = (), **facts: Any
) -> Answer:
    """What the kernel says of running one call where the other was written."""
    return ("exact" if may_run(written, runs, tools or (tool,)) else "lossy"), ()
