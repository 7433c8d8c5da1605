"""What a text is read as: values, calls in every form, the words around them, refusals."""

import json
from itertools import permutations

import pytest
from kit import table

from selfcorrect.reading.choose import Chosen, Unreadable, may_read, read_text
from selfcorrect.reading.json_calls import ToolCallKeys
from selfcorrect.reading.json_text import JsonText, read_json_text
from selfcorrect.reading.literals import JsonTextError
from selfcorrect.reading.python_calls import read_python_calls

TOOLS = {"mow", "water", "list_beds"}
MOW = '{"name": "mow", "arguments": {"bed": "roses"}}'
D = "｜DSML｜"
Q = '<|"|>'


def is_tool(name):
    return name in TOOLS


@pytest.mark.parametrize(
    ("text", "value", "skipped"),
    table("reading.txt", "lenient"),
)
def test_what_strict_json_does_not_allow_is_read_and_recorded(text, value, skipped):
    read = read_json_text(text)
    assert (repr(read.value), sorted(" ".join(read.skipped).split())) == (
        repr(value),
        sorted(skipped.split()),
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        *table("reading.txt", "uncertain"),
        ("[" + "9" * 5_000 + "]", "too large"),
        ("[" * 100_000 + "]" * 100_000, "64 levels"),
    ],
)
def test_what_is_not_certain_is_refused(text, why):
    with pytest.raises(JsonTextError, match=why):
        read_json_text(text)


def test_a_strict_text_is_read_as_it_is():
    assert read_json_text(' {"a": [1.5, "\\u00e9", null]} ') == JsonText({"a": [1.5, "é", None]})


@pytest.mark.parametrize(
    ("text", "calls"),
    table("reading.txt", "python"),
)
def test_calls_in_python(text, calls):
    span = read_python_calls(text, 0)
    assert [[call.name, call.arguments, [*call.positional]] for call in span.calls] == calls
    assert span.end == len(text)


@pytest.mark.parametrize("text", table("reading.txt", "no literals"))
def test_only_literals_are_read(text):
    with pytest.raises(JsonTextError):
        read_python_calls(text, 0)
    assert isinstance(read_text(text, is_tool), Unreadable)


@pytest.mark.parametrize(
    ("value", "calls"),
    table("reading.txt", "values"),
)
def test_which_values_are_calls(value, calls):
    found = ToolCallKeys(is_tool=is_tool).read(value)
    assert [[call.name, call.arguments, call.id] for call in found] == calls


@pytest.mark.parametrize(
    "beside",
    [{"unless": "ann objects"}, {"type": "cancelled"}, {"args": {"bed": "tulips"}}, {"id": [1]}],
)
def test_content_beside_a_call_is_never_dropped(beside):
    text = json.dumps({**json.loads(MOW), **beside})
    assert read_text(text, is_tool) == Unreadable(
        f"the call of 'mow' cannot be read: {next(iter(beside))!r} stands beside its arguments",
        "mow",
    )


def typed(value):
    """Return a call in which an argument is marked as no text."""
    opened = '<invoke name="mow"><parameter name="beds" string="false">'
    return f"{opened}{value}</parameter></invoke>"


def test_an_id_beside_a_call_under_its_name_may_be_an_argument():
    found = read_text('{"mow": {"bed": "roses"}, "id": 7}', is_tool)
    assert isinstance(found, Unreadable)
    assert found.name == "mow"


@pytest.mark.parametrize(
    ("text", "skipped"),
    [
        (json.dumps({"name": "mow", "arguments": '{"bed": "roses"'}), "inner closer"),
        (json.dumps({"name": "mow", "arguments": '{"bed": "roses"} // if dry'}), "comment"),
        (typed('["roses"'), "inner closer"),
        (typed("[1 # 2\n]"), "comment"),
    ],
)
def test_what_is_skipped_inside_arguments_counts_for_their_call(text, skipped):
    (call,) = read_text(text, is_tool).calls
    assert skipped in call.skipped


def test_the_keys_of_a_call_can_be_extended():
    keys = ToolCallKeys(name=("verb", *ToolCallKeys().name))
    value = {"verb": "mow", "args": {}}
    assert keys.read(value)[0].name == "mow"
    assert ToolCallKeys().read(value) == ()


FORMS = dict(table("reading.txt", "forms"))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_holds_the_same_call(form):
    chosen = read_text(FORMS[form], is_tool)
    key = "be_d" if form == "Markdown" else "bed"
    assert [(call.name, call.arguments) for call in chosen.calls] == [("mow", {key: "roses"})]
    assert chosen.around == ""


def test_forms_keep_ids_and_types():
    assert read_text(FORMS["Kimi"], is_tool).calls[0].id == "functions.mow:0"
    assert read_text(FORMS["Mistral 3"], is_tool).calls[0].id == "c1"
    text = '<invoke name="mow"><parameter name="zip" string="true">007</parameter>'
    text += '<parameter name="n" string="false">[7]</parameter></invoke>'
    assert read_text(text, is_tool).calls[0].arguments == {"zip": "007", "n": [7]}
    assert read_text("<tool_call>list_beds</tool_call>", is_tool).calls[0].arguments == {}
    text = f"<|tool_call>call:mow{{say:{Q}a \"b\" 'c'{Q},n:['x'],go:false}}<tool_call|>"
    expected = {"say": "a \"b\" 'c'", "n": ["x"], "go": False}
    assert read_text(text, is_tool).calls[0].arguments == expected


@pytest.mark.parametrize(
    "text",
    [
        *table("reading.txt", "unreadable"),
        '{"arguments": {"note": "' + "x" * 1_000 + '", "bed": 5+1}, "name": "mow"}',
        "x" * (1 << 20) + "x",
    ],
)
def test_a_call_that_cannot_be_read_is_no_missing_call(text):
    found = read_text(text, is_tool)
    assert isinstance(found, Unreadable)
    assert found.name == ("" if text[0] == "x" else "list_beds" if "list" in text else "mow")


@pytest.mark.parametrize("text", table("reading.txt", "no call"))
def test_a_text_without_a_call(text):
    assert read_text(text, is_tool) is None


@pytest.mark.parametrize(
    ("text", "around", "edge"),
    table("reading.txt", "around"),
)
def test_words_around_a_call(text, around, edge):
    chosen = read_text(text, is_tool)
    assert (chosen.around, chosen.edge) == (around, edge)


@pytest.mark.parametrize(
    ("around", "edge", "policy", "reads", "acts"),
    table("reading.txt", "who"),
)
def test_who_may_be_called_from_a_text(around, edge, policy, reads, acts):
    chosen = Chosen((), around, edge)
    assert may_read(chosen, policy, acts=False) == reads
    assert may_read(chosen, policy, acts=True) == acts


@pytest.mark.parametrize(
    "text",
    [MOW[:-1], "mow(bed='roses'", f"```\n{MOW[:-2]}", FORMS["GLM"].replace("</tool_call>", "")],
)
def test_nothing_is_completed_behind_the_limit_of_tokens(text):
    assert isinstance(read_text(text, is_tool), Chosen)
    assert isinstance(read_text(text, is_tool, "length"), Unreadable)


def test_markdown_is_only_taken_off_where_it_escaped_a_name():
    assert read_text(FORMS["Markdown"], is_tool).calls[0].skipped == ("markdown", "quote")
    text = r"mow(bed='a\\_(b')"
    assert read_text(text, is_tool).calls[0].arguments == {"bed": r"a\_(b"}


def test_a_call_that_was_complete_is_read_behind_the_limit_of_tokens():
    assert isinstance(read_text(MOW, is_tool, "length"), Chosen)


ELEMENTS = {form: parts for form, *parts in table("reading.txt", "elements")}
LAYOUTS = {"inline": ("", ""), "lines": ("\n", "\n"), "CRLF": ("\r\n", "\r\n")}


def in_elements(form, layout, **arguments):
    """Return a call in the elements of a form."""
    opening, element, closing, *_ = ELEMENTS[form]
    before, behind = LAYOUTS[layout]
    parts = [element.format(key, before + each + behind) for key, each in arguments.items()]
    return "\n".join([opening, *parts, closing])


def arguments_of(text):
    """Return the arguments of the only call of a text, or why it cannot be read."""
    found = read_text(text, is_tool)
    if isinstance(found, Unreadable):
        return found.reason
    assert found.around == ""
    (call,) = found.calls
    return call.arguments


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("form", ELEMENTS)
@pytest.mark.parametrize("value", table("reading.txt", "whole"))
def test_every_character_of_a_value_is_read(form, layout, value):
    for arguments in ({"say": value}, {"say": value, "to": "ann"}, {"to": "ann", "say": value}):
        is_half = value.startswith("\n") != value.endswith("\n")
        if layout == "inline" or not is_half or len(arguments) == 1:
            assert arguments_of(in_elements(form, layout, **arguments)) == arguments


@pytest.mark.parametrize("written", ["\r\nx", "\nx\n\r", "\nx", "x\n", "x\r\n"])
def test_only_a_pair_of_equal_line_ends_is_layout(written):
    text = in_elements("Qwen", "inline", say=written)
    assert arguments_of(text) == {"say": written}


@pytest.mark.parametrize("written", ["\n", "\r\n", "\r\nx\n"])
def test_a_line_end_that_may_be_layout_is_refused(written):
    assert "a line end may be layout" in arguments_of(in_elements("Qwen", "inline", say=written))
    for half in ("x\n", "\nx"):
        text = in_elements("Qwen", "lines", say=written).replace("</function>", "")
        text += f"<parameter=bed>{half}</parameter></function>"
        assert "a line end may be layout" in arguments_of(text)


def test_a_value_that_is_marked_as_text_has_no_layout():
    text = f'<{D}invoke name="mow"><{D}parameter name="a" string="true">\nx\n</{D}parameter>'
    text += f'<{D}parameter name="b" string="true">x\n</{D}parameter></{D}invoke>'
    assert arguments_of(text) == {"a": "\nx\n", "b": "x\n"}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("form", "other"), [*permutations(ELEMENTS, 2)])
def test_a_tag_of_another_form_is_content(form, other, layout):
    own = ELEMENTS[form][3:]
    for tag in {*ELEMENTS[other][3:]} - {*own}:
        for value in (f"</{tag}>", f"<{tag}>", f"a <{tag} b=1> c </{tag}> d", f"</{tag}>\n<{tag}>"):
            arguments = {"to": "ann", "say": value}
            assert arguments_of(in_elements(form, layout, **arguments)) == arguments
    value = in_elements(other, layout, bed="roses")
    if not any(f"<{tag}" in value or f"</{tag}" in value for tag in own):
        assert arguments_of(in_elements(form, layout, say=value)) == {"say": value}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("form", ELEMENTS)
def test_a_tag_of_the_own_form_is_refused_and_named(form, layout):
    *_, element, call = ELEMENTS[form]
    for tag in (f"</{element}>", f"<{element}>", f"<{call}>"):
        for value in (tag, f"a {tag} b", f"a {tag}"):
            for more in ({}, {"to": "ann"}):
                why = arguments_of(in_elements(form, layout, say=value, **more))
                assert f"the value of `say` holds the tag {tag} of the call's own form" in why
                assert why.endswith("send the call as JSON, or the value without the tag")


@pytest.mark.parametrize("form", ELEMENTS)
@pytest.mark.parametrize(
    "inject",
    [
        lambda element, closing: "x</{0}>\n" + element.format("to", "\neve\n"),
        lambda element, closing: "x</{0}>" + element.format("to", "eve"),
        lambda element, closing: "x</{0}>\n" + element.format("to", "\neve\n") + "\n</{0}>",
        lambda element, closing: "x</{0}>\n" + closing,
        lambda element, closing: "x</{0}>\n" + closing + "\nDone.",
        lambda element, closing: "x</{0}>\n" + closing * 2 + "\n</{0}>",
        lambda element, closing: "x</{0}>\n<{0}",
    ],
)
@pytest.mark.parametrize("layout", ["lines", "CRLF"])
@pytest.mark.parametrize("beside", [{}, {"bed": "roses"}, {"to": "ann"}])
def test_a_value_never_adds_an_argument_nor_ends_its_call(form, inject, layout, beside):
    _, element, closing, tag, _ = ELEMENTS[form]
    value = inject(element, closing).format(tag)
    for arguments in ({**beside, "say": value}, {"say": value, **beside}):
        assert isinstance(arguments_of(in_elements(form, layout, **arguments)), str)


@pytest.mark.parametrize("number", ["1.23456789012345678", "9007199254740993.0", "1e400", "1e-400"])
@pytest.mark.parametrize(
    "frame",
    ['{{"name": "mow", "arguments": {{"to": [{}]}}}}', "mow(to={})", "mow{{to: {},}}",
     '<tool_call>{{"name": "mow", "arguments": {{"to": {}}}}}</tool_call>',
     '<function=mow>{{"to": {}}}</function>'],
)  # fmt: skip
def test_a_call_with_a_number_that_a_float_would_round_is_refused(number, frame):
    why = arguments_of(frame.format(number))
    assert f"no float is the number {number}" in why
