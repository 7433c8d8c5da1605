"""The public names, for type checkers; `__init__.py` loads each when it is first used."""

from selfcorrect.notebook.outputs import show as show, trail as trail
from selfcorrect.notebook.stepper import Stepper as Stepper
