"""`mend`: one strategy on one value, told in short; what the kernel lets no policy run is None."""

from __future__ import annotations

import pytest
from kernels import is_refused

from selfcorrect.model import ABSENT, Changed, GiveUp
from selfcorrect.testing.conformance import try_strategy


@pytest.fixture(scope="session")
def mend():
    """Try a strategy on the argument `x`: (value afterwards, class), or None if it gave up."""

    def run(strategy, schema, value, finding=None, *, required=False, name="x", **context):
        whole = {"properties": {name: schema}, "required": [name] if required else []}
        whole |= context.pop("beside", {})
        args = {} if value is ABSENT else {name: value}
        answer = try_strategy(strategy, whole, args, finding, **context)
        if isinstance(answer, GiveUp):
            assert answer.reason
            return None
        assert isinstance(answer, Changed), answer
        (change,) = answer.changes
        assert change.path == f"/args/{name}"
        if is_refused(strategy, change):
            return None
        return change.after, change.safety.value

    return run
