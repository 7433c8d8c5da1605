"""The public names, for type checkers; `__init__.py` loads each when it is first used."""

from selfcorrect.testing.clock import VirtualTime as VirtualTime
from selfcorrect.testing.model import (
    ScriptedModel as ScriptedModel,
    tool_call as tool_call,
)
from selfcorrect.testing.playing import (
    aplay as aplay,
    play as play,
)
