"""Makes the pictures of README.md from real runs: `python tests/notebook/pictures.py`.

Needs the extra `dev` and chromium.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from bridge import Bridge
from browsers import launched

from selfcorrect.drawing import Shape
from selfcorrect.drawing.svg import picture
from selfcorrect.notebook import Stepper, trail

ROOT = Path(__file__).parents[2]
OUT = ROOT / "docs" / "pages" / "pictures"
WORDS = "a date in words, a cabin by another name"


def main() -> None:
    """Write every picture in both themes."""
    OUT.mkdir(parents=True, exist_ok=True)
    booking = flight_booking()
    broken = next(each["input"] for each in booking.examples() if each["title"] == WORDS)
    shown = {"call": broken["call"]}
    for theme in ("light", "dark"):
        graph = picture(Shape.of_graph(booking.graph), theme=theme)
        (OUT / f"graph-{theme}.svg").write_text(graph, encoding="utf-8")
    with launched() as browser:
        for theme in ("light", "dark"):
            stepper(browser, booking, shown, theme)
            replay(browser, booking, shown, theme)


def flight_booking() -> Any:
    """The demonstration's graph file, as a module."""
    spec = spec_from_file_location("flight_booking", ROOT / "graphs" / "flight_booking.py")
    if spec is None or spec.loader is None:
        raise SystemExit("graphs/flight_booking.py is missing")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def stepper(browser: Any, booking: Any, given: Mapping[str, Any], theme: str) -> None:
    """A stepper that has just repaired."""
    made = Stepper(booking.make_graph(), given, title="Book a flight").run(until="validate")
    bridge = Bridge(made, theme=theme)
    page = browser.new_page(
        viewport={"width": 1160, "height": 860}, color_scheme=theme, device_scale_factor=1.5
    )
    page.goto(bridge.url)
    page.wait_for_selector("body[data-ready]", state="attached")
    page.locator(".sc").screenshot(path=str(OUT / f"stepper-{theme}.png"))
    page.close()
    bridge.close()


def replay(browser: Any, booking: Any, given: Mapping[str, Any], theme: str) -> None:
    """A replay of a run that is over, at its end."""
    run = booking.make_graph().invoke(given)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "replay.html"
        trail({"title": WORDS, **run}, strategies="travel").to_html(path)
        page = browser.new_page(
            viewport={"width": 1160, "height": 860}, color_scheme=theme, device_scale_factor=1.5
        )
        page.goto(path.as_uri())
        page.locator(".sc-item").nth(3).click()
        page.locator(".sc").blur()
        page.locator(".sc").screenshot(path=str(OUT / f"replay-{theme}.png"))
        page.close()


if __name__ == "__main__":
    main()
