"""Where campaigns show their figures: `pytest -s`."""

from __future__ import annotations

import sys


def show(text: str) -> None:
    """Print a line of figures."""
    sys.stdout.write(f"\n{text}\n")
    sys.stdout.flush()
