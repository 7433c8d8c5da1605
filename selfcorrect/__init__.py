"""selfcorrect mends failed tool calls of LLM agents.

One explicit loop carries every call: plan, execute, diagnose, select_strategy, repair, validate,
then retry or report_failure. Nothing is ever guessed in silence, and nothing that may have
happened once is done twice.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from selfcorrect.batch.mended import Mended, MendedCall
    from selfcorrect.batch.mender import Mender
    from selfcorrect.batch.repairing import repair_call
    from selfcorrect.errors import (
        Escalation,
        GraphSetupError,
        HardFailure,
        MapError,
        NotDone,
        SelfCorrectError,
        StrategyNotFound,
    )
    from selfcorrect.evidence import classify
    from selfcorrect.handlers import OnError, default_on_error, on_error
    from selfcorrect.integrations.agent import SelfCorrection
    from selfcorrect.limits import Limits
    from selfcorrect.loop.graph import build_graph
    from selfcorrect.loop.resuming import aresume, resume
    from selfcorrect.mapping.registry import strategy
    from selfcorrect.mapping.rules import ErrorRule
    from selfcorrect.mapping.strategy_map import StrategyMap
    from selfcorrect.mending.choice import Fit
    from selfcorrect.mending.own import edge
    from selfcorrect.model import (
        ABSENT,
        Ask,
        Call,
        Category,
        Change,
        Changed,
        Diagnosis,
        ErrorKind,
        Escalate,
        Finding,
        Fix,
        GiveUp,
        Repair,
        Result,
        Retry,
        Safety,
        Severity,
        Terminal,
        Wait,
    )
    from selfcorrect.policies import ToolErrorPolicy
    from selfcorrect.protocols import RepairContext
    from selfcorrect.report import FailureReport
    from selfcorrect.state import CorrectionState
    from selfcorrect.tools import ToolSpec

_HOMES = {
    "build_graph": "loop.graph",
    "SelfCorrection": "integrations.agent",
    "repair_call": "batch.repairing",
    "Mender": "batch.mender",
    "Mended": "batch.mended",
    "MendedCall": "batch.mended",
    "resume": "loop.resuming",
    "aresume": "loop.resuming",
    "ToolSpec": "tools",
    "StrategyMap": "mapping.strategy_map",
    "ErrorRule": "mapping.rules",
    "strategy": "mapping.registry",
    "edge": "mending.own",
    "Fit": "mending.choice",
    "classify": "evidence",
    "Limits": "limits",
    "FailureReport": "report",
    "ToolErrorPolicy": "policies",
    "RepairContext": "protocols",
    "CorrectionState": "state",
    **dict.fromkeys(
        (
            "SelfCorrectError", "MapError", "StrategyNotFound", "GraphSetupError", "Escalation",
            "HardFailure", "NotDone",
        ),
        "errors",
    ),
    **dict.fromkeys(("OnError", "on_error", "default_on_error"), "handlers"),
    **dict.fromkeys(
        (
            "ABSENT", "Ask", "Call", "Category", "Change", "Changed", "Diagnosis", "ErrorKind",
            "Escalate", "Finding", "Fix", "GiveUp", "Repair", "Result", "Retry",
            "Safety", "Severity", "Terminal", "Wait",
        ),
        "model",
    ),
}  # fmt: skip

__all__ = [
    # the loop
    "build_graph",
    "SelfCorrection",
    "repair_call",
    "Mender",
    "Mended",
    "MendedCall",
    "resume",
    "aresume",
    "ToolSpec",
    "Limits",
    "FailureReport",
    "classify",
    # policy
    "StrategyMap",
    "ErrorRule",
    "ToolErrorPolicy",
    "strategy",
    "edge",
    "OnError",
    "default_on_error",
    "on_error",
    # what strategies see and answer
    "ABSENT",
    "Ask",
    "Call",
    "Category",
    "Change",
    "Changed",
    "Diagnosis",
    "ErrorKind",
    "Escalate",
    "Finding",
    "Fit",
    "Fix",
    "GiveUp",
    "Repair",
    "RepairContext",
    "CorrectionState",
    "Result",
    "Retry",
    "Safety",
    "Severity",
    "Terminal",
    "Wait",
    # errors of the library
    "Escalation",
    "HardFailure",
    "GraphSetupError",
    "MapError",
    "NotDone",
    "SelfCorrectError",
    "StrategyNotFound",
]


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that importing the package stays cheap."""
    if name == "__version__":
        from importlib.metadata import version

        return version("selfcorrect")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"selfcorrect.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
