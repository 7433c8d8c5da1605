"""The eight nodes of the loop, by name, in the order in which a run meets them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from selfcorrect.loop.context import Node
from selfcorrect.loop.nodes.diagnose import diagnose
from selfcorrect.loop.nodes.execute import execute
from selfcorrect.loop.nodes.plan import plan
from selfcorrect.loop.nodes.repair import repair
from selfcorrect.loop.nodes.report_failure import report_failure
from selfcorrect.loop.nodes.retry import retry
from selfcorrect.loop.nodes.select_strategy import select_strategy
from selfcorrect.loop.nodes.validate import validate

NODES: Final[Mapping[str, Node]] = MappingProxyType(
    {
        node.__name__: node
        for node in (
            plan,
            execute,
            diagnose,
            select_strategy,
            repair,
            validate,
            retry,
            report_failure,
        )
    }
)
