"""What CONTRIBUTING.md promises a newcomer: each of these is done here, in at most twenty lines."""

from __future__ import annotations

import inspect
import textwrap
from pathlib import Path
from typing import Any

from asked import read_report

from selfcorrect import CorrectionState, ToolSpec, build_graph
from selfcorrect.model import Finding
from selfcorrect.testing import play

LINES = 20


def book(seat: int, team: str = "") -> str:
    """Book a seat for a team."""
    return f"{seat} {team}".strip()


def test_an_error_body_is_read(monkeypatch: Any) -> None:
    """`selfcorrect/evidence/carrier_body.py`, and its row among the readers."""

    def read(body: Any) -> tuple[Finding, ...]:
        """The carrier's errors: `{"carrier": {"fault": "SEAT", "hint": "…", "field": "seat"}}`."""
        fault = body.get("carrier") if isinstance(body, dict) else None
        if not isinstance(fault, dict) or not isinstance(fault.get("fault"), str):
            return ()
        path = f"/{fault.get('field')}"
        return (Finding(str(fault.get("hint")), code=fault["fault"], paths=(path,)),)

    from selfcorrect.evidence import messages

    monkeypatch.setattr(messages, "BODY_READERS", (read, *messages.BODY_READERS))
    message = '{"carrier": {"fault": "SEAT_TAKEN", "hint": "taken", "field": "seat"}}'
    (found,) = read_report(message, arguments={"seat": 4})
    assert (found.code, found.params) == ("SEAT_TAKEN", ("seat",))
    assert len(inspect.getsource(read).splitlines()) <= LINES


def test_a_mending_edge_is_added(tmp_path: Path) -> None:
    """A file beside a deployment's map, and two lines in the map."""
    code = """
        from selfcorrect import Fit, Safety, edge

        @edge("team-code", safety=["exact"])
        def team_code(value, want):
            if want.name == "team" and isinstance(value, int):
                yield Fit(f"T-{value:03}", 1, Safety.EXACT, "the team's number")
    """
    rules = """
        format = 1
        extends = ["default"]
        [use]
        team-code = "./teams.py:team_code"
        [[rule]]
        id = "team"
        code = ["type", "pattern"]
        params = ["team"]
        repair = ["team-code"]
    """
    (tmp_path / "teams.py").write_text(textwrap.dedent(code), encoding="utf-8")
    (tmp_path / "own.toml").write_text(textwrap.dedent(rules), encoding="utf-8")
    schema = {"type": "object", "properties": {"team": {"type": "string", "pattern": "^T-"}}}
    spec = ToolSpec.from_schema({"name": "book", "parameters": schema}, call=lambda team: team)
    call = {"name": "book", "args": {"team": 7}}
    out = play([spec], {"call": call}, strategies=tmp_path / "own.toml")
    assert out["result"] == "T-007"
    assert len((code + rules).strip().splitlines()) <= LINES


class Seats(CorrectionState, total=False):
    left: int


def test_a_node_with_an_outcome_is_added() -> None:
    def free(state: Any, context: Any) -> dict[str, Any]:
        left = 40 - state["current"]["args"]["seat"]
        return {"left": left, "outcome": "free" if left >= 0 else "full"}

    graph = build_graph(
        [book],
        state=Seats,
        nodes={"free": free},
        routes={
            "plan": {"planned": "free"},
            "free": {"free": "execute", "full": "report_failure"},
        },
    )
    out = graph.invoke({"call": {"name": "book", "args": {"seat": 4}}})
    assert (out["result"], out["left"]) == ("4", 36)
    out = graph.invoke({"call": {"name": "book", "args": {"seat": 41}}})
    assert out["failure"]["detail"] == "free: full"
