"""What a deployment decides: changes that run, terminal kinds, unknown tools, empty answers, hooks.

Names are loaded when they are first used, so that a cold start stays short.
"""

from importlib import import_module
from typing import Any, Final

_HOMES: Final = {
    "empty_answers": "EmptyResponseError ExitOnEmpty RetryWithFeedback",
    "hooks": "Hooks",
    "safety": "SafetyPolicy",
    "terminal": "PolicySource ToolErrorPolicy",
    "unknown_tools": "AutoCorrect Feedback ImmediateRaise Raise ToolNotFoundPolicy",
}
"""The public names, by the module that holds them; `__init__.pyi` tells type checkers the same."""
_MODULES: Final = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'selfcorrect.policies' has no attribute {name!r}")
    value = getattr(import_module(f"selfcorrect.policies.{_MODULES[name]}"), name)
    globals()[name] = value
    return value
