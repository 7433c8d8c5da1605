"""The tools that come with the library: a model that cannot go on says so with them.

Listed by name or as functions, they are tools like any other; a model that is a tool's fixer calls
them too.
"""

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from selfcorrect.errors import Escalation, HardFailure
from selfcorrect.model import JSON


def escalate(reason: str = "", severity: str = "HIGH") -> NoReturn:
    """Ask for help from above: the caller reads the reason, and may call again.

    Args:
        reason: What is wrong, and what a corrected call would be.
        severity: LOW, MEDIUM, HIGH or CRITICAL.
    """
    raise Escalation(reason, severity)


def throw_exception(reason: str = "") -> NoReturn:
    """End the run at once, because nothing can help; nothing else is tried.

    Args:
        reason: Why nothing can help.
    """
    raise HardFailure(reason)


BUILT_IN: Mapping[str, Callable[..., Any]] = {
    "escalate": escalate,
    "throw_exception": throw_exception,
}
for _tool in BUILT_IN.values():
    _tool.metadata = {"effect": "read_only"}  # type: ignore[attr-defined]


def call_built_in(name: str, args: JSON) -> None:
    """Do what a built-in tool does when a fixer calls it; other names do nothing.

    Raises:
        Escalation: If the tool is `escalate`.
        HardFailure: If it is `throw_exception`.
    """
    # Arguments that nobody can read still say why.
    fields = args if isinstance(args, Mapping) else {"reason": args}
    reason = str(fields.get("reason") or "")
    if name == escalate.__name__:
        escalate(reason, str(fields.get("severity") or ""))
    if name == throw_exception.__name__:
        throw_exception(reason)
