"""Steps through runs and shows them in notebooks.

Names are loaded when they are first used.
"""

from selfcorrect.lazy import load_names

__all__, __getattr__ = load_names(__name__, {"outputs": "show trail", "stepper": "Stepper"})
