"""One text has one meaning: the loop, `classify`, `diagnose` and `explain` are asked the same."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from selfcorrect import ToolSpec, build_graph, classify
from selfcorrect.batch import diagnose
from selfcorrect.evidence import decide, read_report
from selfcorrect.mapping.loading import load_map
from selfcorrect.model import ErrorKind

MESSAGES = Path(__file__).parent / "training" / "data" / "messages.jsonl.gz"
EVERY = 20
"""So many messages are passed over for each that is asked about."""


def texts() -> list[str]:
    with gzip.open(MESSAGES, "rt", encoding="utf-8", errors="surrogatepass") as lines:
        found = [json.loads(line)["message"] for line in lines]
    return [text for text in found[::EVERY] if text.strip() and text.isprintable()]


TEXTS = texts()


@pytest.fixture(scope="module")
def diagnosed() -> list[dict]:
    return list(
        diagnose({"id": n, "message": t, "exception": "ValueError"} for n, t in enumerate(TEXTS))
    )


def test_there_are_enough():
    assert len(TEXTS) >= 200


def test_what_is_told_of_an_error_is_what_explain_tells(diagnosed):
    rules = load_map()
    for text, told in zip(TEXTS, diagnosed, strict=True):
        found = decide(read_report(text, exception="ValueError")[0], rules, None, None, acts=False)
        assert (found.kind, found.category, found.rule) == (
            told["kind"],
            told["category"],
            told["rule"],
        )


def test_the_loop_and_classify_say_the_same_and_differ_from_it_only_where_a_model_guesses(
    diagnosed,
):
    said: list[str] = []

    def look() -> None:
        """Look."""
        raise ValueError(said[-1])

    tool = ToolSpec.from_function(look, effect="read_only")
    graph = build_graph([tool], limits={"attempts": 1})
    for text, told in zip(TEXTS, diagnosed, strict=True):
        said.append(text)
        out = graph.invoke({"call": {"name": "look", "args": {}}})
        event = next(each for each in out["trail"] if each["node"] == "diagnose")
        kind = ErrorKind(event["findings"][0]["kind"])
        assert classify(ValueError(text)) is kind
        assert kind == told["kind"] or told["witness"] == "model"
