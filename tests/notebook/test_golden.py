"""What is shown, held to files: `UPDATE_GOLDEN=1 pytest tests/notebook` writes them anew."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from worlds import BROKEN, World, letters

from selfcorrect.drawing import Edge, Shape
from selfcorrect.drawing.svg import picture
from selfcorrect.notebook import Stepper, show, trail
from selfcorrect.notebook.view_model import graph_of, view_of

GOLDEN = Path(__file__).parent / "golden"
ROOT = Path(__file__).parents[2]


def golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN") == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def steady(data: Any) -> Any:
    """The same without what differs: durations, the run's id, and how sure a rule was measured."""
    if isinstance(data, dict):
        return {
            key: 0.5 if key == "seconds" and value else steady(value) for key, value in data.items()
        }
    if isinstance(data, list | tuple):
        return [steady(item) for item in data]
    if isinstance(data, str):
        data = re.sub(r"\b[01]\.[0-9]{2} by rule\b", "0.50 by rule", data)
        return re.sub(r"[0-9a-f]{24}", "…id…", re.sub(r"(seconds\W+)[0-9.e-]+", r"\g<1>0.5", data))
    return data


@pytest.fixture(scope="module")
def stepper() -> Stepper:
    made = Stepper(World().graph(), {"call": BROKEN}, title="a booking")
    return made.break_at("validate").run()


def test_the_view_model(stepper: Stepper) -> None:
    view = steady(view_of(stepper.standing))
    # What else a state holds is the state's business.
    view["frame"]["state"] = [
        row for row in view["frame"]["state"] if row[0] in ("current", "outcome")
    ]
    view["frame"]["written"] = []
    golden("view.json", json.dumps(view, ensure_ascii=False, indent=1) + "\n")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_picture(stepper: Stepper, theme: str) -> None:
    golden(f"graph-{theme}.svg", stepper.to_svg(theme=theme))


def test_the_terminal_view(stepper: Stepper) -> None:
    told = steady(stepper.text()).partition("\nstate:")[0] + "\n"
    golden("stepper.txt", told)


def test_the_terminal_view_of_a_trail() -> None:
    out = World(PermissionError("403 forbidden")).graph().invoke({"call": BROKEN})
    golden("trail.txt", steady(trail({"title": "refused", **out}).text()) + "\n")


def test_mermaid(stepper: Stepper) -> None:
    golden("graph.mmd", stepper.to_mermaid())


def test_a_picture_of_another_graph() -> None:
    golden("letters.svg", show(letters()).to_svg())


SEEDS = """
import sys
sys.path.insert(0, sys.argv[1])
from worlds import BROKEN, World, letters
from selfcorrect.notebook import Stepper, show
stepper = Stepper(World().graph(), {"call": BROKEN}).run()
sys.stdout.write(stepper.to_svg() + stepper.to_svg(theme="dark") + stepper.to_mermaid())
sys.stdout.write(show(letters()).to_svg())
"""


def test_21_pictures_are_the_same_bytes_whatever_the_hash_seed() -> None:
    made = {
        subprocess.run(
            [sys.executable, "-c", SEEDS, str(Path(__file__).parent)],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "4242")
    }
    assert len(made) == 1
    assert len(made.pop()) > 20_000


def test_the_graph_of_a_loop_needs_no_layout_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "grandalf", None)
    bundle = World().graph()._repr_mimebundle_()
    assert set(bundle) == {"text/html", "image/svg+xml", "text/vnd.mermaid", "text/plain"}
    assert 'src="data:image/svg+xml;base64,' in bundle["text/html"]
    assert "http" not in bundle["image/svg+xml"].replace("http://www.w3.org/2000/svg", "")


def test_a_node_on_an_edge_is_drawn_on_its_edge() -> None:
    graph = World().graph(on_edge={("validate", "retry"): lambda *_: None})
    svg = show(graph).to_svg()
    assert "validate to retry" in svg
    assert graph_of(Shape.of_graph(graph))["nodes"]["validate_to_retry"] == "validate to retry"


def test_names_from_outside_end_no_attribute_and_no_element() -> None:
    name = "\"><script>alert(1)</script>'\u202e\x00"
    svg = picture(Shape((name, "b"), (Edge(name, "b", name),)), live=True)
    assert "<script" not in svg
    assert "\u202e" not in svg
    import xml.etree.ElementTree as ET

    ET.fromstring(svg)


def test_the_notebook_can_be_read_where_nothing_runs() -> None:
    cells = json.loads((ROOT / "notebooks" / "05_step_through.ipynb").read_text("utf-8"))["cells"]
    shown = [
        "".join(output["data"]["text/html"])
        for cell in cells
        for output in cell.get("outputs", [])
        if "text/html" in output.get("data", {})
    ]
    assert len(shown) > 3
    assert all('src="data:image/svg+xml;base64,' in html for html in shown)
    assert not [o for c in cells for o in c.get("outputs", []) if o["output_type"] == "error"]
