"""The public names, for type checkers; `__init__.py` loads each when it is first used."""

from selfcorrect.effects import Outcome as Outcome
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
from selfcorrect.graph import aresume as aresume, build_graph as build_graph, resume as resume
from selfcorrect.handlers import (
    DeserializationError as DeserializationError,
    ExecutionError as ExecutionError,
    InvalidArgs as InvalidArgs,
    OnError as OnError,
    default_on_error as default_on_error,
    on_error as on_error,
)
from selfcorrect.langchain.middleware import (
    AgentOptions as AgentOptions,
    SelfCorrection as SelfCorrection,
)
from selfcorrect.limits import Limits as Limits
from selfcorrect.mender import (
    MendedCall as MendedCall,
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
    Effect as Effect,
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
from selfcorrect.nodes.diagnose import classify as classify
from selfcorrect.pointer import look as look
from selfcorrect.policies.run import ToolErrorPolicy as ToolErrorPolicy
from selfcorrect.protocols import RepairContext as RepairContext
from selfcorrect.repairs.ask_model import AskModel as AskModel
from selfcorrect.report import FailureReport as FailureReport
from selfcorrect.setup import Options as Options
from selfcorrect.state import CorrectionState as CorrectionState
from selfcorrect.strategy_map.document import ErrorRule as ErrorRule
from selfcorrect.strategy_map.registry import strategy as strategy
from selfcorrect.strategy_map.strategy_map import StrategyMap as StrategyMap
from selfcorrect.tools.spec import ToolSpec as ToolSpec

__version__: str
