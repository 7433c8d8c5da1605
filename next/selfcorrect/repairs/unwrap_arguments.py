"""unwrap-arguments: takes off an object that stands around all arguments."""

from dataclasses import replace
from typing import ClassVar

from selfcorrect.model import Call, Diagnosis, Repair
from selfcorrect.pointer import ARGS
from selfcorrect.protocols import RepairContext
from selfcorrect.repairs.primitive import Primitive


class UnwrapArguments(Primitive):
    """Unwrap `{"arguments": {...}}`, and a lone key that is the JSON text of the arguments."""

    OF_OBJECT: ClassVar[bool] = True

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        # Wherever the error points: a wrapper stands around all arguments.
        return Primitive.__call__(self, call, replace(diagnosis, paths=(ARGS,)), context)
