"""Lines in and out, and what of them may reach a terminal."""

from __future__ import annotations

import io
import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from selfcorrect.batch.files import source, target
from selfcorrect.batch.lines import Line, clip, dump, parse, write
from selfcorrect.cli import app
from selfcorrect.cli.screen import row, short
from selfcorrect.kernel.texts import visible
from selfcorrect.model import ABSENT

REFUSED = {
    "cut": ('{"call": {"name": "x"', "not JSON"),
    "not JSON": ("hello", "not JSON: Expecting value at column 1"),
    "two values": ("{} {}", "not JSON: Extra data at column 4"),
    "duplicate key": (
        '{"a": {"b": 1, "c": 2, "b": 3}}',
        "the key 'b' has two different values, 1 and 3",
    ),
    "NaN": ('{"a": NaN}', "NaN is not a JSON number"),
    "infinity": ("[-Infinity]", "-Infinity is not a JSON number"),
    "too large": ("[1e999]", "too large"),
    "too many digits": ("[" + "9" * 5000 + "]", "digits"),
    "too deep": ("[" * 100_000, "nested too deeply"),
}


@pytest.mark.parametrize(("text", "why"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_strict_json_is_refused(text, why):
    with pytest.raises(ValueError, match=why.replace("[", r"\[")):
        parse(text)


def test_lines_are_read_one_at_a_time_and_a_bad_one_stops_no_other(tmp_path):
    file = tmp_path / "calls.jsonl"
    file.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\n{oops\n"\xff"\n"\xe2\x80\xa8 one line"\n[true]')
    with source(str(file)) as given:
        found = list(given.lines())
    assert [(line.where, line.value) for line in found if line.error is None] == [
        (f"{file}:1", {"a": 1}),
        (f"{file}:5", "\u2028 one line"),
        (f"{file}:6", [True]),
    ]
    assert [line.error for line in found if line.error] == [
        f"{file}:3: not JSON: Expecting property name enclosed in double quotes at column 2",
        f"{file}:4: not UTF-8 at byte 2",
    ]


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_a_file_that_cannot_be_read_is_refused_before_the_first_line(tmp_path, name):
    done = CliRunner().invoke(app, ["run", "--jsonl", str(tmp_path / name)])
    assert done.exit_code == 2
    assert str(tmp_path / name) in done.stderr


def test_a_file_that_cannot_be_written_is_refused(tmp_path):
    done = CliRunner().invoke(app, ["run", "--record", str(tmp_path / "no" / "such" / "file")])
    assert done.exit_code == 2
    assert "No such file" in done.stderr


def test_what_a_user_can_put_right_is_told_in_a_line():
    done = CliRunner().invoke(app, ["explain", "no-such-map", "x"])
    assert done.exit_code == 2
    assert "no-such-map" in done.stderr
    assert "Traceback" not in done.output


def test_standard_input_and_output_are_dashes(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"[1]\n[")))
    with source("-") as given, target("-") as out:
        for line in given.lines():
            write(out, line.value if line.error is None else line.error)
    assert capsys.readouterr().out == '[1]\n"<stdin>:2: not JSON: Expecting value at column 2"\n'


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    # Surrogates as well: what a tool returns need not be Unicode.
    | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def harmless(text: str) -> bool:
    return not any(unicodedata.category(c) in ("Cc", "Cs", "Cf", "Zl", "Zp") for c in text)


@given(values)
def test_a_line_comes_back_as_it_was_and_holds_nothing_that_a_terminal_obeys(value):
    stream = io.StringIO()
    write(stream, value)
    line = stream.getvalue()
    assert line.endswith("\n")
    assert json.loads(line) == value
    line.encode("utf-8")
    assert not any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in line[:-1])


@pytest.mark.parametrize(
    "value", [float("nan"), {1: {2, 3}}, object(), json.loads("[" * 900 + "]" * 900)]
)
def test_what_is_not_json_is_still_written(value):
    stream = io.StringIO()
    write(stream, value)
    json.loads(stream.getvalue())


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[2J",
        "\x9b31m",
        "\u202egpj.exe",
        "\u2066",
        "\ufeff",
        "\r",
        "\a",
        "\ud800",
        "\ufffe",
        "\U000e0041",
    ],
)
def test_nothing_that_a_terminal_obeys_is_shown(text):
    assert harmless(visible(text))
    assert visible(text).startswith("\\")
    assert harmless(row("label", text, (text, "bold")).plain)
    assert harmless(short({text: text}))


def test_markup_is_text():
    assert "[red]x[/red] [link=http://x]" in row("label", "[red]x[/red] [link=http://x]").plain


def test_long_values_are_cut_and_the_rest_is_counted():
    assert clip("x" * 1000, 10) == "x" * 10 + "… (990 more characters)"
    assert short(ABSENT) == "nothing"
    assert short(None) == "null"
    assert dump("ok") == '"ok"'
    assert Line("f:1") == Line("f:1", None, None)
