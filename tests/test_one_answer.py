"""One text has one meaning: whoever is asked about an error gives the same answer.

The loop, `classify`, `audit` and the notebook decide what will be acted on; `explain` and
`diagnose` also tell what is a mere guess, and say that it is one.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from selfcorrect import ToolSpec, build_graph, classify
from selfcorrect.batch import diagnose
from selfcorrect.cli import app
from selfcorrect.evidence.testifying import LIKELY
from selfcorrect.kernel.texts import redact
from selfcorrect.learning.auditing import RecordedError, Replayer
from selfcorrect.learning.calls import RecordedCall
from selfcorrect.learning.history import History
from selfcorrect.learning.recoveries import own_text
from selfcorrect.mapping.loading import load_map
from selfcorrect.notebook import Stepper
from selfcorrect.plain import clean
from selfcorrect.testing import VirtualTime, play

MESSAGES = Path(__file__).parent / "training" / "data" / "messages.jsonl.gz"
EVERY = 14
"""So many messages are passed over for each that is asked about."""
CLASS = f"{RecordedError.__module__}.{RecordedError.__qualname__}"


def texts() -> list[str]:
    with gzip.open(MESSAGES, "rt", encoding="utf-8", errors="surrogatepass") as lines:
        found = [json.loads(line)["message"] for line in lines]
    # A secret is taken out of what is recorded: what is told of such an error is read without it.
    return [text for text in found[::EVERY] if text.isprintable() and redact(text) == text != ""]


TEXTS = texts()
CALLS = [
    RecordedCall(str(n), 0, "look", {}, text, effect="read_only", schema={"type": "object"})
    for n, text in enumerate(TEXTS)
]


@pytest.fixture(scope="module")
def diagnosed() -> list[dict]:
    return list(
        diagnose({"id": n, "message": text, "exception": CLASS} for n, text in enumerate(TEXTS))
    )


def found_in(trail) -> dict:
    return next(event["findings"][0] for event in trail if event.get("findings"))


@pytest.fixture(scope="module")
def looped() -> list[dict]:
    """What the loop found in each."""
    said: list[str] = []

    def look() -> None:
        """Look."""
        raise RecordedError(said[-1])

    tool = ToolSpec.from_function(look, effect="read_only")
    found = []
    for text in TEXTS:
        said.append(text)
        given = {"call": {"name": "look", "args": {}}}
        out = play([tool], given, time=VirtualTime(), limits={"attempts": 1})
        found.append(found_in(event for event in out["trail"] if event["node"] == "diagnose"))
    return found


def meant(found) -> tuple:
    return found["kind"], found["category"], found["rule"]


def test_there_are_enough():
    assert len(TEXTS) >= 300


def test_the_loop_says_what_is_told_but_for_a_guess(looped, diagnosed):
    for found, told in zip(looped, diagnosed, strict=True):
        is_guess = told["witness"] == "model" and told["confidence"] < LIKELY
        assert is_guess or meant(found) == meant(told), (found, told)


def test_classify_says_what_the_loop_says(looped):
    assert [classify(RecordedError(text)) for text in TEXTS] == [each["kind"] for each in looped]


def test_an_audit_says_what_the_loop_says(looped):
    replayed = Replayer(History.of(CALLS), load_map())
    for call, found in zip(CALLS, looped, strict=True):
        out, _ = replayed(call)
        assert meant(found_in(out["trail"])) == meant(found)


def test_what_is_learnt_from_is_the_sentence_that_the_loop_found(looped):
    for call, found in zip(CALLS, looped, strict=True):
        assert own_text(call) == redact(clean(found["text"]))[: len(own_text(call))]


def test_explain_tells_what_diagnose_tells(diagnosed):
    for text, told in list(zip(TEXTS, diagnosed, strict=True))[::20]:
        asked = ["explain", "default", "--exception", CLASS, "--", text]
        shown = CliRunner().invoke(app, asked).output
        rows = dict(line.split(None, 1) for line in shown.splitlines() if len(line.split()) > 1)
        assert (rows["kind"], rows["category"]) == (told["kind"], told["category"]), text


@pytest.mark.parametrize("at", range(0, 300, 30))
def test_the_notebook_shows_what_the_loop_found(looped, at):
    def look() -> None:
        """Look."""
        raise RecordedError(TEXTS[at])

    tool = ToolSpec.from_function(look, effect="read_only")
    stepper = Stepper(build_graph([tool]), {"call": {"name": "look", "args": {}}})
    stepper.run()
    assert meant(found_in(stepper.values["trail"])) == meant(looped[at])
