"""The public names, for type checkers; `__init__.py` loads each when it is first used."""

from selfcorrect.policies.budgets import (
    AgentBudget as AgentBudget,
    Checkpoint as Checkpoint,
    Extend as Extend,
    Stop as Stop,
)
from selfcorrect.policies.hooks import Hooks as Hooks
from selfcorrect.policies.model_errors import (
    RespondWith as RespondWith,
    Rethrow as Rethrow,
    RetryModel as RetryModel,
)
from selfcorrect.policies.safety import SafetyPolicy as SafetyPolicy
from selfcorrect.policies.terminal import (
    PolicySource as PolicySource,
    ToolErrorPolicy as ToolErrorPolicy,
)
from selfcorrect.policies.unknown_tools import (
    AutoCorrect as AutoCorrect,
    EmptyResponseError as EmptyResponseError,
    ExitOnEmpty as ExitOnEmpty,
    Feedback as Feedback,
    ImmediateRaise as ImmediateRaise,
    Raise as Raise,
    RetryWithFeedback as RetryWithFeedback,
    ToolNotFoundPolicy as ToolNotFoundPolicy,
)
