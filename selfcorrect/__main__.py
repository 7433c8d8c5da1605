"""`selfcorrect` and `python -m selfcorrect`: the command line, or how to get it."""

from __future__ import annotations

import sys

from selfcorrect.errors import MissingExtra


def main() -> None:
    """Run the command line; without the extra `cli`, say how to install it and exit with 2."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        import rich
        import typer
    except ModuleNotFoundError:
        sys.stderr.write(f"{MissingExtra('cli', 'the command line')}\n")
        raise SystemExit(2) from None
    del rich, typer
    from selfcorrect.cli import app

    app()


if __name__ == "__main__":
    main()
