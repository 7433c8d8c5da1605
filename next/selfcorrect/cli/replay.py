"""`replay`: recorded runs as one page."""

import argparse
import json
from contextlib import suppress
from pathlib import Path

from selfcorrect.cli.lines import read_lines
from selfcorrect.cli.screen import say
from selfcorrect.drawing.html import page
from selfcorrect.drawing.recorded import views_of
from selfcorrect.drawing.view import View


def replay(options: argparse.Namespace) -> int:
    """Write a page of the runs that can be read; name the lines that cannot."""
    views: list[View] = []
    failed = False
    for number, (line, place) in enumerate(read_lines(options.trails), 1):
        run = None
        with suppress(ValueError, RecursionError):
            run = json.loads(line)
        if isinstance(run, dict) and isinstance(run.get("trail"), list):
            views += views_of(run, title=f"{number}. {run.get('title') or 'run'}")
        else:
            failed = True
            say(f'{place}: the line must be an object with a "trail"', stderr=True)
    Path(options.html).write_text(page(views, title="Recorded runs"), "utf-8")
    return 1 if failed else 0
