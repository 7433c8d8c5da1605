"""The live cell of a stepper: a view goes out, commands come in. Needs the extra `jupyter`."""

import json
from collections.abc import Callable, Mapping
from contextvars import copy_context
from importlib.resources import files
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from selfcorrect.drawing.html import static, still
from selfcorrect.errors import GraphSetupError, SelfCorrectError
from selfcorrect.notebook.cell import draw_cell
from selfcorrect.notebook.edits import loop_of
from selfcorrect.text import bound, release, text_of

if TYPE_CHECKING:
    from selfcorrect.notebook.stepper import Stepper

OFTEN: Final = 0.1
"""Seconds between two pictures of a run that goes on."""
