"""What is drawn, offline: no line runs through a box, no text is markup, equal runs are equal."""

import json
import os
import re
import subprocess
import sys
from itertools import pairwise
from typing import TypedDict

import pytest
from hypothesis import given, settings, strategies as st
from kit import main
from langgraph.graph import END, START, StateGraph

from selfcorrect import build_graph
from selfcorrect.drawing.html import page
from selfcorrect.drawing.picture import lay_out, picture_of
from selfcorrect.drawing.recorded import views_of
from selfcorrect.drawing.svg import draw, img, label_of, note_of
from selfcorrect.drawing.text import ascii_graph, view_text
from selfcorrect.notebook import show, trail

HOSTILE = "<script>pwn()</script>\"'&\x1b[31m\u202e" + "x" * 10_000
HTML_ONLY = re.compile(r"<script>pwn|\x1b|\u202e")
CALL = {"name": "book_flihgt", "args": {"seats": "2"}}


def book_flight(seats: int) -> str:
    """Book seats."""
    if seats > 5:
        raise ValueError("seats must be at most 5")
    return HOSTILE


def look(state, context):
    return None


GRAPHS = {
    "the loop": {},
    "guards": {"before": dict.fromkeys(("plan", "execute", "diagnose", "report_failure"), look)},
    "on edges": {"on_edge": dict.fromkeys((("execute", "diagnose"), ("retry", "execute")), look)},
}


def overlap(one, other):
    return all(
        low < other_high and other_low < high
        for (low, high), (other_low, other_high) in zip(one, other, strict=True)
    )


def check_geometry(picture):
    boxes = {
        node["id"]: [
            (node["x"] - node["width"] / 2, node["x"] + node["width"] / 2),
            (node["y"] - node["height"] / 2, node["y"] + node["height"] / 2),
        ]
        for node in picture["nodes"]
    }
    size = [(0, picture["width"]), (0, picture["height"])]
    names = list(boxes)
    for number, name in enumerate(names):
        assert not any(overlap(boxes[name], boxes[other]) for other in names[number + 1 :])
        assert all(
            low <= a and b <= high for (low, high), (a, b) in zip(size, boxes[name], strict=True)
        )
    for edge in picture["edges"]:
        points = edge["points"]
        assert all(0 < x < picture["width"] and 0 < y < picture["height"] for x, y in points)
        for (x, y), (to_x, to_y) in pairwise(points):
            assert x == to_x or y == to_y
            line = [(min(x, to_x), max(x, to_x)), (min(y, to_y), max(y, to_y))]
            crossed = [name for name in names if overlap(line, boxes[name])]
            assert crossed == [], (edge["source"], edge["target"])


@pytest.mark.parametrize("options", GRAPHS.values(), ids=GRAPHS)
def test_the_loop_is_drawn_without_crossing_a_box(options):
    picture = picture_of(build_graph([book_flight], **options))
    check_geometry(picture)
    at = {node["id"]: (node["x"], node["y"]) for node in picture["nodes"]}
    left = [at[name] for name in ("plan", "execute", "__end__")]
    middle = [at[name] for name in ("diagnose", "select_strategy", "repair", "validate")]
    for column in (left, middle):
        assert len({x for x, _ in column}) == 1
        assert column == sorted(column, key=lambda place: place[1])
    assert at["report_failure"][1] == max(y for _, y in at.values())


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from("abcdefgh")] * 2), max_size=20))
def test_any_graph_is_drawn_without_crossing_a_box(pairs):
    builder = StateGraph(TypedDict("State", {"key": str}))
    names = sorted({"a", *(name for pair in pairs for name in pair)})
    for name in names:
        after = {target for source, target in pairs if source == name}
        builder.add_node(name, lambda state: state, destinations=(*after, END))
    builder.add_edge(START, "a")
    picture = picture_of(builder.compile())
    assert {node["id"] for node in picture["nodes"]} == {*names, "__end__"}
    check_geometry(picture)


def test_edges_between_two_nodes_are_one_and_the_path_is_marked():
    graph = build_graph([book_flight])
    path = [["plan"], ["diagnose"], ["plan"], ["diagnose"], ["plan"]]
    picture = picture_of(graph, path=path, next=["diagnose"])
    drawn = draw(picture)
    assert "<style" not in drawn
    assert {">found ×2<", ">×3 · current<", ">×2 · next<"} <= {*re.findall(r">[^<>]+<", drawn)}
    node, _ = lay_out([("a", "b", "")])["nodes"]
    note = note_of({**node, "visits": 999, "mark": "current", "is_breakpoint": True})
    assert len(note) * 6.7 < node["width"]
    joined = lay_out([("a", "b", "y"), ("a", "b", "x"), ("b", "a", "")])
    assert [edge["label"] for edge in joined["edges"]] == ["x, y", ""]


def test_texts_in_boxes_are_cut_and_escaped():
    long = "<b>" + "üx" * 30
    picture = lay_out([(long, "b", HOSTILE)])
    drawn = draw(picture)
    check_geometry(picture)
    assert not HTML_ONLY.search(drawn)
    (name,) = re.findall(r'class="name"[^>]*>(&lt;b[^<]*)<', drawn)
    assert name.endswith("…")
    assert len(name.replace("&lt;", "<").replace("&gt;", ">")) <= 20
    assert len(label_of(picture["edges"][0])) <= 20
    assert img(drawn).startswith('<img src="data:image/svg+xml;base64,')


def test_equal_graphs_are_equal_bytes():
    code = """if True:
        from test_drawing import *
        for options in GRAPHS.values():
            print(draw(picture_of(build_graph([book_flight], **options))))
    """
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


@pytest.mark.parametrize("seats", ["2", 9])
def test_a_run_is_shown_step_by_step(seats):
    out = build_graph([book_flight]).invoke({"call": {**CALL, "args": {"seats": seats}}})
    views = views_of(out, title="book")
    assert len(views) == len(out["trail"]) + 1
    assert [view["status"] for view in views[:-1]] == ["past"] * len(out["trail"])
    assert views[-1]["status"] == ("finished" if "result" in out else "failed")
    at = [[each["is_head"] for each in view["timeline"]].index(True) for view in views]
    assert at == list(range(len(views)))
    assert '"book_flihgt" → "book_flight"' in view_text(views[4])
    last = views[-1]["picture"]
    assert sum(node["visits"] for node in last["nodes"]) == len(out["trail"])
    assert sum(edge["count"] for edge in last["edges"]) == len(out["trail"])
    shown = page(views, title=HOSTILE)
    assert not HTML_ONLY.search(shown)
    assert shown.count("<script") == 2
    assert "default-src 'none'" in shown
    assert "(missing)" not in trail(out).bundle["text/html"]


EVENT = {"node": "plan", "next": "execute", "outcome": "planned"}


WRONG = {
    "node": HOSTILE,
    "next": HOSTILE,
    "changes": [1, {"path": 2}],
    "error": HOSTILE,
    "findings": [{"ladder": 3}],
    "tried": {},
    "cost": {"x": float("nan"), "y": 10**400},
}
BROKEN = {"trail": [WRONG], "failure": {"attempts": [1], "question": HOSTILE}, "result": HOSTILE}
NO_STEPS = {"trail": [1, None, {"node": {}}, [HOSTILE]]}


@pytest.mark.parametrize(
    "output", [None, [], {"trail": "x"}, NO_STEPS, {"trail": [EVENT] * 3_000}, BROKEN]
)
def test_a_broken_trail_is_told(output):
    views = views_of(output, title=HOSTILE)
    shown = page(views, title="runs") + view_text(views[-1]) + repr(trail(output))
    assert not re.search(r"\x1b|\u202e", shown)
    assert len(shown) < 2_000_000
    check_geometry(views[-1]["picture"])


def test_a_graph_is_shown_offline():
    graph = build_graph([book_flight])
    bundle = graph._repr_mimebundle_()
    assert bundle == show(graph)._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "image/svg+xml"}
    assert graph.with_config(tags=["a"])._repr_mimebundle_() == bundle
    assert bundle["text/plain"] == ascii_graph(picture_of(graph))


def test_runs_are_recorded_and_replayed(tmp_path, capsys):
    record, out = tmp_path / "t.jsonl", tmp_path / "page.html"
    call = {"name": "search_flights", "args": {"origin": "NYC", "destination": "Tokio"}}
    assert main(["run", "--record", str(record), "--call", json.dumps(call)]) == 1
    (run,) = map(json.loads, record.read_text("utf-8").splitlines())
    assert {"title", "failure", "trail"} <= set(run)
    assert main(["replay", str(record), "--html", str(out)]) == 0
    assert "1. search_flights" in out.read_text("utf-8")
    record.write_text(f"{json.dumps(run)}\nno JSON\n[]\n", "utf-8")
    assert main(["replay", str(record), "--html", str(out)]) == 1
    assert "t.jsonl:2: " in capsys.readouterr().err
    assert "1. search_flights" in out.read_text("utf-8")
    assert main(["graph", "--format", "svg"]) == 0
    assert capsys.readouterr().out.startswith("<svg ")
