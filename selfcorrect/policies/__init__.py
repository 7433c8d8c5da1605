"""What a deployment decides: changes that run, terminal kinds, unknown tools, empty answers, hooks.

Names are loaded when they are first used, so that a cold start stays short.
"""

from selfcorrect.lazy import load_names

__all__, __getattr__ = load_names(
    __name__,
    {
        "agent": "AgentBudget AutoCorrect Checkpoint EmptyResponseError ExitOnEmpty Extend Feedback"
        " ImmediateRaise Raise RespondWith Rethrow RetryModel RetryWithFeedback Stop"
        " ToolNotFoundPolicy",
        "run": "Hooks PolicySource SafetyPolicy ToolErrorPolicy",
    },
)
"""The public names, by the module that holds them; `__init__.pyi` tells type checkers the same."""
