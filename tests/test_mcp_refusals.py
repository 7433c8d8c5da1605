"""What MCP servers say where they refuse the input: known as such, with its parameter.

Texts as the SDKs write them: TypeScript (Zod 3 and 4, as a result and as an error of the protocol),
Python's low-level server (jsonschema), FastMCP 1 to 4 (pydantic), and JSON-RPC errors with data.
"""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

import json

import pytest

from selfcorrect import ToolSpec, build_graph
from selfcorrect.errors import ToolReportedError
from selfcorrect.integrations.mcp import MCPProtocolError

ZOD_3 = json.dumps(
    [
        {
            "code": "invalid_type",
            "expected": "array",
            "received": "string",
            "path": ["target"],
            "message": "Expected array, received string",
        }
    ],
    indent=2,
)
ZOD_4 = json.dumps(
    [
        {
            "expected": "array",
            "code": "invalid_type",
            "path": ["target"],
            "message": "Invalid input: expected array, received string",
        }
    ],
    indent=2,
)
PRETTY = "✖ Invalid input: expected array, received string\n  → at target"
PYDANTIC = "1 validation error for {}\ntarget\n  Input should be a valid list [type=list_type, input_value='[\"Top\"]', input_type=str]\n    For further information visit https://errors.pydantic.dev/2.11/v/list_type"
MISSING = "1 validation error for call[f]\ntarget\n  Missing required argument [type=missing_argument, input_value={}, input_type=dict]\n    For further information visit https://errors.pydantic.dev/2.14/v/missing_argument"
RESULTS = {
    "TypeScript, Zod 3": f"MCP error -32602: Input validation error: Invalid arguments for tool f: {ZOD_3}",
    "TypeScript, Zod 4": f"MCP error -32602: Input validation error: Invalid arguments for tool f: {ZOD_4}",
    "TypeScript, before 1.20": f"MCP error -32602: Invalid arguments for tool f: {ZOD_3}",
    "Zod, for people": PRETTY,
    "Python, low level": "Input validation error: '[\"Top\"]' is not of type 'array'",
    "FastMCP 1": "Error executing tool f: " + PYDANTIC.format("fArguments"),
    "FastMCP 4": PYDANTIC.format("call[f]"),
    "a JSON-RPC error as text": json.dumps(
        {
            "error": {
                "code": -32602,
                "message": f"Input validation error: Invalid arguments for tool f: {ZOD_3}",
            }
        }
    ),
}
DATA = {
    "Zod, the list": json.loads(ZOD_3),
    "Zod, an object": {"issues": json.loads(ZOD_4)},
    "pydantic": {"errors": [{"type": "list_type", "loc": ["target"], "msg": "Input should be a valid list", "input": "x"}]},
    "Ajv": [{"instancePath": "/target", "schemaPath": "#/properties/target/type", "keyword": "type", "params": {"type": "array"}, "message": "must be array"}],
}  # fmt: skip
CALL = {"call": {"name": "f", "args": {"target": '["Top"]', "n": 1}}}


def run(error, effect):
    """The output, and what was sent to a server that refuses the first call."""
    sent = []

    def call(**args):
        sent.append(args)
        if len(sent) == 1:
            raise error
        return "ok"

    # The schema says nothing, so that only the server knows what it wants.
    schema = {"name": "f", "parameters": {"properties": {"target": {}, "n": {}}}}
    return build_graph([ToolSpec.from_schema(schema, call=call, effect=effect)]).invoke(CALL), sent


def finding(out):
    return next(event["findings"][0] for event in out["trail"] if event.get("findings"))


def check_known(out):
    told = finding(out)
    assert (told["kind"], told["category"]) == ("validation", "wrong_type")
    assert told["paths"] == ["/args/target"]
    assert told["constraint"] == {"type": "array"}


@pytest.mark.parametrize("text", RESULTS.values(), ids=RESULTS)
def test_a_result_that_refuses_the_input_is_mended_where_a_tool_reads(text):
    out, sent = run(ToolReportedError(text), "read_only")
    check_known(out)
    assert (out.get("result"), sent[1:]) == ("ok", [{"target": ["Top"], "n": 1}])


@pytest.mark.parametrize("text", RESULTS.values(), ids=RESULTS)
@pytest.mark.parametrize("effect", ["mutating", "destructive", None])
def test_its_words_never_prove_that_nothing_was_done(text, effect):
    out, sent = run(ToolReportedError(text), effect)
    check_known(out)
    assert (len(sent), out["failure"]["reason"]) == (1, "refused")


@pytest.mark.parametrize("text", [*RESULTS.values()][:5], ids=[*RESULTS][:5])
@pytest.mark.parametrize("trusted", [True, False])
def test_the_code_of_a_trusted_server_does(text, trusted):
    out, sent = run(MCPProtocolError(-32602, text, trusted=trusted), "mutating")
    check_known(out)
    assert len(sent) == (2 if trusted else 1)
    assert ("failure" in out) is not trusted


@pytest.mark.parametrize("data", DATA.values(), ids=DATA)
def test_what_stands_beside_the_message_as_structure_is_read_as_structure(data):
    out, sent = run(MCPProtocolError(-32602, "Invalid params", data, trusted=True), "mutating")
    check_known(out)
    assert (out.get("result"), sent[1:]) == ("ok", [{"target": ["Top"], "n": 1}])


@pytest.mark.parametrize(
    ("text", "params"),
    [
        (MISSING, ["/args/target"]),
        ("Input validation error: 'target' is a required property", ["/args/target"]),
        ("MCP error -32602: Invalid params: missing field `target`", ["/args/target"]),
    ],
)
def test_what_is_missing_is_named(text, params):
    out, _ = run(ToolReportedError(text), "read_only")
    assert (finding(out)["category"], finding(out)["paths"]) == ("missing_param", params)
