"""`classify`: the kind of one error, by the map that a deployment uses."""

from selfcorrect.diagnosis.facts import finding_of
from selfcorrect.model import ErrorKind
from selfcorrect.strategy_map.strategy_map import StrategyMap, load_default


def classify(error: BaseException, strategies: StrategyMap | None = None) -> ErrorKind:
    """Return the kind of an error: whether, and how, the same call may succeed later.

    >>> classify(TimeoutError("no answer"))
    <ErrorKind.TIMEOUT: 'timeout'>
    """
    found = (strategies or load_default()).diagnose_faults(finding_of(error))
    return ErrorKind(found[0]["kind"])
