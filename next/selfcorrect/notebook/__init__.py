"""Steps through runs and shows them in notebooks."""

from selfcorrect.lazy import load_names

__all__, __getattr__ = load_names(
    __name__,
    {
        "stepper": "Stepper",
    },
)
