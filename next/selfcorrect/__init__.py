"""A runtime that repairs failed tool calls of LLM agents: rules first, then a model, then a person.

`build_graph` makes the whole loop as a LangGraph graph; `Mender` and `repair_call` repair calls
without executing them. Names are loaded when they are first used, so that a cold start stays short.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from selfcorrect.agents.middleware import SelfCorrection as SelfCorrection
    from selfcorrect.diagnosis.kind import classify as classify
    from selfcorrect.effects import (
        Effect as Effect,
        Outcome as Outcome,
    )
    from selfcorrect.errors import (
        CorrectionFailed as CorrectionFailed,
        Escalation as Escalation,
        EscalationError as EscalationError,
        GraphSetupError as GraphSetupError,
        HardFailure as HardFailure,
        LedgerError as LedgerError,
        MapError as MapError,
        NotDone as NotDone,
        SelfCorrectError as SelfCorrectError,
    )
    from selfcorrect.graph import build_graph as build_graph
    from selfcorrect.handlers import (
        DeserializationError as DeserializationError,
        ExecutionError as ExecutionError,
        InvalidArgs as InvalidArgs,
        OnError as OnError,
        default_on_error as default_on_error,
        on_error as on_error,
    )
    from selfcorrect.limits import Limits as Limits
    from selfcorrect.mender import (
        Mender as Mender,
        Mending as Mending,
        repair_call as repair_call,
    )
    from selfcorrect.model import (
        ABSENT as ABSENT,
        Ask as Ask,
        Call as Call,
        Category as Category,
        Change as Change,
        Changed as Changed,
        Diagnosis as Diagnosis,
        ErrorKind as ErrorKind,
        Escalate as Escalate,
        Fix as Fix,
        GiveUp as GiveUp,
        Repair as Repair,
        Result as Result,
        Retry as Retry,
        Safety as Safety,
        Severity as Severity,
        Terminal as Terminal,
        Wait as Wait,
    )
    from selfcorrect.models.prompts import Prompts as Prompts
    from selfcorrect.policies.terminal import ToolErrorPolicy as ToolErrorPolicy
    from selfcorrect.protocols import RepairContext as RepairContext
    from selfcorrect.repairs.ask_model import AskModel as AskModel
    from selfcorrect.report import FailureReport as FailureReport
    from selfcorrect.state import CorrectionState as CorrectionState
    from selfcorrect.strategy_map.document import ErrorRule as ErrorRule
    from selfcorrect.strategy_map.registry import strategy as strategy
    from selfcorrect.strategy_map.strategy_map import StrategyMap as StrategyMap
    from selfcorrect.tools.spec import ToolSpec as ToolSpec

_HOMES: Final = {
    "agents.middleware": "SelfCorrection",
    "diagnosis.kind": "classify",
    "effects": "Effect Outcome",
    "errors": "CorrectionFailed Escalation EscalationError GraphSetupError HardFailure LedgerError"
    " MapError NotDone SelfCorrectError",
    "graph": "build_graph",
    "handlers": "DeserializationError ExecutionError InvalidArgs OnError default_on_error on_error",
    "limits": "Limits",
    "mender": "Mender Mending repair_call",
    "model": "ABSENT Ask Call Category Change Changed Diagnosis ErrorKind Escalate Fix GiveUp"
    " Repair Result Retry Safety Severity Terminal Wait",
    "models.prompts": "Prompts",
    "policies.terminal": "ToolErrorPolicy",
    "protocols": "RepairContext",
    "repairs.ask_model": "AskModel",
    "report": "FailureReport",
    "state": "CorrectionState",
    "strategy_map.document": "ErrorRule",
    "strategy_map.registry": "strategy",
    "strategy_map.strategy_map": "StrategyMap",
    "tools.spec": "ToolSpec",
}
"""The public names, by the module that holds them."""
_MODULES: Final = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("selfcorrect")
    if name not in _MODULES:
        raise AttributeError(f"module 'selfcorrect' has no attribute {name!r}")
    value = getattr(import_module(f"selfcorrect.{_MODULES[name]}"), name)
    globals()[name] = value
    return value
