"""Lets `python -m selfcorrect` be the command line."""

import sys

from selfcorrect.cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
