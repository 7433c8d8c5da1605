"""The eight nodes of the loop, by name, in the order in which a run meets them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from selfcorrect.context import Node
from selfcorrect.nodes.diagnose import diagnose
from selfcorrect.nodes.execute import execute
from selfcorrect.nodes.plan import plan
from selfcorrect.nodes.repair import repair
from selfcorrect.nodes.report_failure import report_failure
from selfcorrect.nodes.retry import retry
from selfcorrect.nodes.select_strategy import select_strategy
from selfcorrect.nodes.validate import validate

NODES: Final[Mapping[str, Node]] = MappingProxyType(
    {
        "plan": plan,
        "execute": execute,
        "diagnose": diagnose,
        "select_strategy": select_strategy,
        "repair": repair,
        "validate": validate,
        "retry": retry,
        "report_failure": report_failure,
    }
)

__all__ = [
    "NODES",
    "diagnose",
    "execute",
    "plan",
    "repair",
    "report_failure",
    "retry",
    "select_strategy",
    "validate",
]
