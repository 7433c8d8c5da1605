"""The eight nodes of the loop, by name, in the order in which a run meets them."""

from selfcorrect.loop.nodes.diagnose import diagnose
from selfcorrect.loop.nodes.execute import execute
from selfcorrect.loop.nodes.plan import plan
from selfcorrect.loop.nodes.repair import repair
from selfcorrect.loop.nodes.report_failure import report_failure
from selfcorrect.loop.nodes.retry import retry
from selfcorrect.loop.nodes.select_strategy import select_strategy
from selfcorrect.loop.nodes.table import NODES
from selfcorrect.loop.nodes.validate import validate

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
