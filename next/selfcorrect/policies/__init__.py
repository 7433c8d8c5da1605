"""What a deployment decides: changes that run, terminal kinds, unknown tools, empty answers, hooks.

Names are loaded when they are first used, so that a cold start stays short.
"""

from selfcorrect.lazy import load_names

__all__, __getattr__ = load_names(
    __name__,
    {
        "budgets": "AgentBudget Checkpoint Extend Stop",
        "hooks": "Hooks",
        "model_errors": "RespondWith Rethrow RetryModel",
        "safety": "SafetyPolicy",
        "terminal": "PolicySource ToolErrorPolicy",
        "unknown_tools": "AutoCorrect EmptyResponseError ExitOnEmpty Feedback ImmediateRaise"
        " Raise RetryWithFeedback ToolNotFoundPolicy",
    },
)
"""The public names, by the module that holds them; `__init__.pyi` tells type checkers the same."""
