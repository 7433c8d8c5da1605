"""A runtime that repairs failed tool calls of LLM agents: rules first, then a model, then a person.

`build_graph` makes the whole loop as a LangGraph graph; `Mender` and `repair_call` repair calls
without executing them. Names are loaded when they are first used, so that a cold start stays short.
"""

from typing import Any

from selfcorrect.lazy import load_names

_HOMES = {
    "langchain.middleware": "AgentOptions SelfCorrection",
    "nodes.diagnose": "classify",
    "effects": "Outcome",
    "errors": "CorrectionFailed Escalation EscalationError GraphSetupError HardFailure LedgerError"
    " MapError NotDone SelfCorrectError",
    "graph": "aresume build_graph resume",
    "handlers": "DeserializationError ExecutionError InvalidArgs OnError default_on_error on_error",
    "limits": "Limits",
    "mender": "MendedCall Mender Mending repair_call",
    "model": "ABSENT Ask Call Category Change Changed Diagnosis Effect ErrorKind Escalate Fix"
    " GiveUp Repair Result Retry Safety Severity Terminal Wait",
    "models.prompts": "Prompts",
    "pointer": "look",
    "policies.run": "ToolErrorPolicy",
    "protocols": "RepairContext",
    "repairs.ask_model": "AskModel",
    "report": "FailureReport",
    "setup": "Options",
    "state": "CorrectionState",
    "strategy_map.document": "ErrorRule",
    "strategy_map.registry": "strategy",
    "strategy_map.strategy_map": "StrategyMap",
    "tools.spec": "ToolSpec",
}
"""The public names, by the module that holds them; `__init__.pyi` tells type checkers the same."""
__all__, _load = load_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("selfcorrect")
    return _load(name)
