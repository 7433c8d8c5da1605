"""The trained witness: its file, what it may say and never does, and that it can be made anew."""

from __future__ import annotations

import gzip
import hashlib
import json
import struct
from pathlib import Path

import pytest
from asked import decide, features, read_report
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect import ErrorRule, StrategyMap, weights
from selfcorrect.errors import MapError
from selfcorrect.evidence.trained.features import hashed
from selfcorrect.evidence.trained.witness import KINDS, OVERRULES_KIND, together
from selfcorrect.kinds import RETRYABLE
from selfcorrect.model import Category, ErrorKind, Finding, Source
from selfcorrect.ports import Open
from selfcorrect.training.rows import row_of, to_json

DATA = Path(__file__).parent / "training" / "data"
DEFAULT = StrategyMap.load("default")
FREE = Open(kind=True, category=True)


def heard(text: str, rules: StrategyMap = DEFAULT, **given: object) -> Finding:
    return decide(read_report(text, **given)[0], rules, None, given.get("arguments"), acts=False)


# --- the file -------------------------------------------------------------------------------------


def test_what_comes_along_is_small_and_reads_back_the_same():
    content = weights.SHIPPED.read_bytes()
    assert len(content) <= 250_000
    assert weights.written(weights.read(content)) == content


def signed(body: bytes) -> bytes:
    return body + hashlib.sha256(body).digest()


def with_header(**changes: object) -> bytes:
    body = weights.SHIPPED.read_bytes()[:-32]
    at = len(weights.MAGIC)
    (length,) = struct.unpack_from("<I", body, at)
    header = json.loads(body[at + 4 : at + 4 + length]) | changes
    text = json.dumps(header).encode()
    return signed(weights.MAGIC + struct.pack("<I", len(text)) + text + body[at + 4 + length :])


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "not the weights"),
        (b"\x80\x04pickle", "not the weights"),
        (weights.SHIPPED.read_bytes()[:-1], "damaged"),
        (
            weights.SHIPPED.read_bytes()[:5000] + b"\0" + weights.SHIPPED.read_bytes()[5001:],
            "damaged",
        ),
        (signed(weights.SHIPPED.read_bytes()[:-40]), "malformed"),
        (signed(weights.MAGIC + struct.pack("<I", 1 << 31)), "malformed|Expecting"),
        (signed(weights.MAGIC + struct.pack("<I", 2) + b"[]"), "no object"),
        (with_header(kinds=["other"]), "train it again"),
        (with_header(scale=[1.0]), "scale must be"),
        (with_header(bias=[float("nan")] * len(weights.CLASSES)), "bias holds"),
        (with_header(sure=[1e308] * weights.SIGNS), "sure holds"),
        (with_header(sure=[True] * weights.SIGNS), "sure holds"),
        (weights.MAGIC + b"\0" * weights.LARGEST, "larger"),
    ],
)
def test_a_file_that_is_no_such_file_is_refused(content, why):
    with pytest.raises(ValueError, match=why):
        weights.read(content)


@given(st.binary(max_size=300))
def test_any_signed_nonsense_is_refused_and_never_run(rest):
    with pytest.raises(ValueError, match=r"\w"):
        weights.read(signed(weights.MAGIC + rest))


def test_adding_many_features_carries_nothing_over():
    shipped = weights.shipped()
    many = list(shipped.buckets[: weights.MOST])
    slow = [
        bias + sum(shipped.weight(bucket, number) for bucket in many)
        for number, bias in enumerate(shipped.bias)
    ]
    assert shipped.scores(many) == pytest.approx(slow)
    assert shipped.scores([]) == list(shipped.bias)


# --- a map says whether it is asked ---------------------------------------------------------------


def test_one_line_of_a_map_switches_it_off_and_a_bare_map_has_none():
    text = "flux capacitor not charged"
    assert heard(text).witness is Source.MODEL
    assert (
        heard(text, StrategyMap(extends="default", policy={"witness": "off"})).witness
        is Source.NONE
    )
    assert StrategyMap([ErrorRule(id="a", match="x", kind="timeout")]).trained is None


def test_a_map_may_name_a_file_beside_it(tmp_path):
    (tmp_path / "own.bin").write_bytes(weights.SHIPPED.read_bytes())
    (tmp_path / "own.toml").write_text(
        'format = 1\nextends = ["default"]\n[policy]\nwitness = "own.bin"\n'
    )
    own = StrategyMap.load(tmp_path / "own.toml")
    assert own.trained is not weights.shipped()
    assert heard("flux capacitor not charged", own).witness is Source.MODEL


@pytest.mark.parametrize(("content", "why"), [(None, "No such file"), (b"x", "not the weights")])
def test_a_file_that_cannot_be_used_is_a_fault_of_the_map(tmp_path, content, why):
    if content is not None:
        (tmp_path / "own.bin").write_bytes(content)
    (tmp_path / "own.toml").write_text('format = 1\n[policy]\nwitness = "own.bin"\n')
    with pytest.raises(MapError, match=why) as caught:
        StrategyMap.load(tmp_path / "own.toml")
    assert [fault.key for fault in caught.value.faults] == ["policy.witness"]


# --- what it may say ------------------------------------------------------------------------------

SCORES = st.lists(st.floats(-50, 50), min_size=len(weights.CLASSES), max_size=len(weights.CLASSES))
DECIDED = st.builds(
    Finding,
    st.just(""),
    kind=st.sampled_from(ErrorKind),
    category=st.sampled_from(Category),
    confidence=st.floats(0, 1),
    witness=st.sampled_from([Source.RULE, Source.NONE, Source.STRUCTURE]),
)


@settings(max_examples=300)
@given(SCORES, DECIDED)
def test_it_never_makes_anything_retryable_that_rules_do_not(scores, decided):
    said = together(weights.shipped(), scores, decided, FREE, 30)
    assert said.kind not in RETRYABLE or said.kind is decided.kind
    assert 0 <= said.confidence <= 1


@given(SCORES, DECIDED)
def test_what_is_not_free_stays(scores, decided):
    fixed = together(weights.shipped(), scores, decided, Open(kind=False, category=False), 30)
    assert (fixed.kind, fixed.category) == (decided.kind, decided.category)
    half = together(weights.shipped(), scores, decided, Open(kind=False, category=True), 30)
    assert half.kind is decided.kind


def test_it_overrules_the_kind_of_a_phrase_only_where_it_is_sure():
    decided = Finding("", kind=ErrorKind.QUOTA, confidence=0.8, witness=Source.RULE)
    for strength in range(12):
        scores = [0.0] * len(weights.CLASSES)
        scores[KINDS.index(ErrorKind.AUTH)] = strength
        said = together(weights.shipped(), scores, decided, FREE, 30)
        if said.kind is ErrorKind.AUTH:
            assert strength > 1
            break
    assert said.kind is ErrorKind.AUTH
    assert OVERRULES_KIND >= 0.9


def test_it_invents_no_wait():
    assert heard("flux capacitor not charged for 30 years").retry_after is None


def test_it_names_the_words_that_spoke():
    found = heard("xq: hostel nonesuch reference dangling")
    assert found.witness is Source.MODEL
    assert found.spoke
    seen = set(features(read_report(found.text)[0], None))
    assert {word for word, _ in found.spoke} <= seen
    assert [weight for _, weight in found.spoke] == sorted(
        (weight for _, weight in found.spoke), reverse=True
    )


def test_what_a_caller_wrote_does_not_speak():
    args = {"note": "unauthorized duplicate timeout"}
    plain = {"note": "zzqx"}
    text = "flux {} not charged"
    seen = [
        features(read_report(text.format(given["note"]), arguments=given)[0], given)
        for given in (args, plain)
    ]
    assert not [word for word in seen[0] if "unauthorized" in word or "duplicate" in word]


@given(
    st.text(max_size=3000), st.dictionaries(st.text(max_size=8), st.text(max_size=40), max_size=4)
)
@settings(max_examples=60, deadline=None)
def test_any_text_has_few_features(text, args):
    names = features(Finding(text), args)
    assert len(hashed(names)) <= weights.MOST


# --- made anew ------------------------------------------------------------------------------------


def records(name: str) -> list[dict]:
    with gzip.open(DATA / name, "rt", encoding="utf-8", errors="surrogatepass") as lines:
        return [json.loads(line) for line in lines]


def test_hashed_rows_hold_no_word_of_a_message():
    for row in records("rows.jsonl.gz"):
        assert set(row) == {"system", "labels", "rules", "free", "known", "buckets"}
        assert all(type(bucket) is int for bucket in row["buckets"])
        assert to_json(row_of(row, DEFAULT)) == row


def test_our_own_messages_say_where_they_come_from():
    for record in records("messages.jsonl.gz"):
        assert record["origin"]
        assert record["labels"]["kind"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ({}, "message must be a text"),
        ({"message": "x"}, "labels must be an object"),
        ({"message": "x", "labels": {"kind": "odd", "category": "none"}}, "odd"),
        ({"message": "x", "labels": {"kind": "auth"}}, "labels.category"),
        ({"buckets": [1 << 20], "labels": {}}, "buckets must be"),
        ({"buckets": [1], "labels": {}, "rules": []}, "four values"),
    ],
)
def test_a_line_that_cannot_be_learned_from_says_why(line, why):
    with pytest.raises(ValueError, match=why):
        row_of(line, DEFAULT)


@pytest.mark.nightly
def test_training_again_gives_the_same_answers():
    pytest.importorskip("sklearn")
    from selfcorrect.training.fitting import fit, heard_apart

    rows = [
        row_of(each, DEFAULT)
        for name in ("messages.jsonl.gz", "rows.jsonl.gz")
        for each in records(name)
    ]
    again, shipped = fit(rows, heard_apart(rows)), weights.shipped()
    asked = [row for row in rows if row.free is not None]
    same = sum(
        together(again, again.scores(row.buckets), row.decided, row.free, len(row.buckets))[:2]
        == together(shipped, shipped.scores(row.buckets), row.decided, row.free, len(row.buckets))[
            :2
        ]
        for row in asked
    )
    assert same >= 0.995 * len(asked)
