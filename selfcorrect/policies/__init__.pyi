"""The public names, for type checkers; `__init__.py` loads each when it is first used."""

from selfcorrect.policies.agent import (
    AgentBudget as AgentBudget,
    AutoCorrect as AutoCorrect,
    Checkpoint as Checkpoint,
    EmptyResponseError as EmptyResponseError,
    ExitOnEmpty as ExitOnEmpty,
    Extend as Extend,
    Feedback as Feedback,
    ImmediateRaise as ImmediateRaise,
    Raise as Raise,
    RespondWith as RespondWith,
    Rethrow as Rethrow,
    RetryModel as RetryModel,
    RetryWithFeedback as RetryWithFeedback,
    Stop as Stop,
    ToolNotFoundPolicy as ToolNotFoundPolicy,
)
from selfcorrect.policies.run import (
    Hooks as Hooks,
    PolicySource as PolicySource,
    SafetyPolicy as SafetyPolicy,
    ToolErrorPolicy as ToolErrorPolicy,
)
