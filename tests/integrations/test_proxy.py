"""The proxy on stdio: real servers, the SDK's own client; what it mends, and what it passes on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import anyio
import psutil
import pytest
from mcp.shared.exceptions import McpError
from mcp.types import (
    CreateMessageResult,
    ElicitResult,
    ListRootsResult,
    PromptReference,
    Root,
    TextContent,
)
from proxy_kit import PROXY, by_hand, client, lines, npm, raw_server, servers_of, shop, until
from typer.testing import CliRunner

from selfcorrect.cli import app

BROKEN = [
    ("book", {"city": "Rome", "seats": "two"}, ["book", {"city": "Rome", "seats": 2}]),
    ("Book", {"City": "Oslo", "seats": 1}, ["book", {"city": "Oslo", "seats": 1}]),
    ("book", {"city": "Rome", "seats": 3, "cabin": "Business"}, ["book", {"cabin": "business"}]),
    ("book", {"city": "Rome", "seats": 4, "tags": "a"}, ["book", {"tags": ["a"]}]),
    ("find", {"city": "Bern", "day": "2026/10/26"}, ["find", {"day": "2026-10-26"}]),
]
"""Calls that a server refuses, and what is to be executed of each."""


CANCELLED = "notifications/cancelled"


def anyhow(work):
    anyio.run(work)


def test_mendable_calls_fail_directly_and_are_executed_once_through_the_proxy(tmp_path):
    async def work():
        direct, log = tmp_path / "direct", tmp_path / "log"
        async with client(*shop(direct)) as session:
            for name, args, _ in BROKEN:
                assert (await session.call_tool(name, args)).isError
            assert not lines(direct)
        async with client(*PROXY, "--", *shop(log)) as session:
            for number, (name, args, wanted) in enumerate(BROKEN):
                answer = await session.call_tool(name, args)
                assert not answer.isError, answer
                assert answer.meta["selfcorrect"]["executions"] == 1
                done = lines(log)
                assert len(done) == number + 1, "one execution each"
                assert done[-1][0] == wanted[0]
                assert done[-1][1].items() >= wanted[1].items()
            answer = await session.call_tool("book", {"city": "Rome", "seats": "6"})
            assert answer.structuredContent == {"id": 6, "cabin": "economy"}
            answer = await session.call_tool("book", {"city": "Rome", "seats": 2})
            assert answer.meta is None, "a healthy call comes back as it is"

    anyhow(work)


def test_the_filesystem_server(tmp_path):
    async def work():
        (tmp_path / "a.txt").write_text("hello")
        path = str(tmp_path / "a.txt")
        calls = [
            ("read_multiple_files", {"paths": json.dumps([path])}),
            ("readTextFile", {"path": path}),
            ("read_text_file", {"path": path, "head": "1"}),
            ("write_file", {"Path": str(tmp_path / "b.txt"), "content": "x"}),
        ]
        command = (*npm("server-filesystem"), str(tmp_path))
        async with client(*command) as session:
            for name, args in calls:
                try:
                    assert (await session.call_tool(name, args)).isError
                except McpError:
                    continue
        assert not (tmp_path / "b.txt").exists()
        async with client(*PROXY, "--", *command) as session:
            for name, args in calls:
                answer = await session.call_tool(name, args)
                assert not answer.isError, answer
                assert answer.meta["selfcorrect"]["executions"] == 1
            refused = await session.call_tool("read_text_file", {"path": "/etc/shadow"})
            assert refused.isError
            assert "Access denied" in refused.content[0].text
            assert "Access was refused" in refused.content[1].text
        assert (tmp_path / "b.txt").read_text() == "x"

    anyhow(work)


def test_the_everything_server():
    async def work():
        command = (*npm("server-everything"), "stdio")
        seen = []

        async def progressed(*step):
            seen.append(step)

        async with client(*PROXY, "--trust", "--", *command) as session:
            names = {tool.name for tool in (await session.list_tools()).tools}
            assert "get-sum" in names
            answer = await session.call_tool("get_sum", {"a": "2", "b": 3})
            assert "5" in answer.content[0].text
            work = {"duration": "0.2", "steps": 2}
            await session.call_tool(
                "trigger-long-running-operation", work, progress_callback=progressed
            )
            assert [step[:2] for step in seen] == [(1, 2), (2, 2)]
            assert len((await session.list_resources()).resources) > 1
            assert (await session.list_prompts()).prompts

    anyhow(work)


def test_everything_else_passes(tmp_path):
    told, progress, changed = [], [], []

    async def sampled(context, params):
        text = TextContent(type="text", text="42")
        return CreateMessageResult(role="assistant", content=text, model="m")

    async def rooted(context):
        return ListRootsResult(roots=[Root(uri="file:///here")])

    async def elicited(context, params):
        told.append((params.message, params.requestedSchema))
        return ElicitResult(action="accept", content={"sure": True})

    async def logged(params):
        told.append(params.data)

    async def came(message):
        method = getattr(getattr(message, "root", None), "method", "")
        if method == "notifications/tools/list_changed":
            changed.append(method)

    async def progressed(*step):
        progress.append(step)

    callbacks = {
        "sampling_callback": sampled,
        "list_roots_callback": rooted,
        "elicitation_callback": elicited,
        "logging_callback": logged,
        "message_handler": came,
    }

    async def work():
        log = tmp_path / "log"
        async with client(*PROXY, "--", *shop(log), **callbacks) as session:
            assert (await session.read_resource("shop://terms")).contents[0].text == "no refunds"
            prompt = await session.get_prompt("greet", {"name": "Ann"})
            assert prompt.messages[0].content.text == "Greet Ann."
            reference = PromptReference(type="ref/prompt", name="greet")
            found = await session.complete(reference, {"name": "name", "value": "x"})
            assert found.completion.values == ["xa", "xb"]
            await session.send_ping()
            assert (await session.call_tool("think", {"question": "?"})).content[0].text == "42"
            assert "file:///here" in (await session.call_tool("roots", {})).content[0].text
            assert (await session.call_tool("confirm", {})).content[0].text == "accept True"
            assert told[0][0] == "Sure?"
            # A mended call has the progress of the healthy one.
            await session.call_tool("count", {"steps": "3"}, progress_callback=progressed)
            assert [step[:2] for step in progress] == [(1, 3), (2, 3), (3, 3)]
            assert "counted" in told
            before = [tool.name for tool in (await session.list_tools()).tools]
            await session.call_tool("grow", {})
            assert changed
            answer = await session.call_tool("shrink", {"by": "2"})
            assert answer.content[0].text == "smaller by 2", "the new list holds at once"
            after = [tool.name for tool in (await session.list_tools()).tools]
            assert set(after) - set(before) == {"shrink"}

    anyhow(work)


def test_what_is_missing_or_has_two_readings_is_asked_by_the_clients_own_form(tmp_path):
    asked = []
    answers = iter([{"day": "2026-04-03"}, {"seats": 4}, None])

    async def elicited(context, params):
        asked.append((params.message, params.requestedSchema))
        content = next(answers)
        if content is None:
            return ElicitResult(action="decline")
        if "enum" in params.requestedSchema["properties"].get("day", {}):
            content = {"day": params.requestedSchema["properties"]["day"]["enum"][0]}
        return ElicitResult(action="accept", content=content)

    async def work():
        log = tmp_path / "log"
        async with client(*PROXY, "--", *shop(log), elicitation_callback=elicited) as session:
            answer = await session.call_tool("pay", {"amount": 5, "day": "03/04/2026"})
            assert not answer.isError, answer
            assert lines(log)[-1][1]["day"] in ("2026-04-03", "2026-03-04")
            answer = await session.call_tool("book", {"city": "Rome"})
            assert answer.structuredContent["id"] == 4
            schema = asked[-1][1]["properties"]["seats"]
            assert schema["type"] == "integer", "the place's own schema"
            answer = await session.call_tool("book", {"city": "Rome"})
            assert answer.isError
            assert answer.meta["selfcorrect"]["reason"] == "rejected"
            assert len(lines(log)) == 2
        async with client(*PROXY, "--", *shop(log)) as session:  # who cannot be asked is told
            answer = await session.call_tool("book", {"city": "Rome"})
            assert answer.isError
            assert "`seats` is required and missing" in answer.content[0].text
            assert len(lines(log)) == 2

    anyhow(work)


def test_annotations_count_only_where_the_server_is_trusted(tmp_path):
    async def work():
        log = tmp_path / "log"
        async with client(*PROXY, "--", *shop(log)) as session:
            answer = await session.call_tool("find", {"city": "Lisbno"})
            assert answer.isError
            assert "did you mean 'Lisbon'" in answer.content[0].text
            assert answer.meta["selfcorrect"]["proposal"]["args"] == {"city": "Lisbon"}
            assert len(lines(log)) == 1
        async with client(*PROXY, "--trust", "--", *shop(log)) as session:
            answer = await session.call_tool("find", {"city": "Lisbno"})
            assert answer.content[0].text == "Lisbon None"
            assert answer.meta["selfcorrect"]["executions"] == 2
            answer = await session.call_tool("find", {"city": "Busy"})
            assert answer.content[0].text == "Busy None"

    anyhow(work)


def test_parallel_calls_do_not_wait_for_each_other(tmp_path):
    async def work():
        log, done = tmp_path / "log", []
        async with (
            client(*PROXY, "--", *shop(log)) as session,
            anyio.create_task_group() as group,
        ):

            async def call(name, args):
                answer = await session.call_tool(name, args)
                done.append((name, answer.isError))

            group.start_soon(call, "wait", {"seconds": "1.5"})
            group.start_soon(call, "wait", {"seconds": 1.5})
            await anyio.sleep(0.3)
            group.start_soon(call, "book", {"city": "Rome", "seats": "1"})
            group.start_soon(call, "book", {"city": "Rome", "seats": 2})
        assert [name for name, _ in done] == ["book", "book", "wait", "wait"]
        assert not any(failed for _, failed in done)

    anyhow(work)


def test_a_cancellation_reaches_the_server_and_the_call_is_in_doubt(tmp_path):
    log = tmp_path / "log"
    with by_hand(*PROXY, "--", *shop(log)) as hand:
        hand.begin()
        for number, seconds in enumerate((30, "31")):  # as it came, and mended
            call = hand.ask("tools/call", {"name": "wait", "arguments": {"seconds": seconds}})
            until(lambda: lines(log)[-1:] and lines(log)[-1][0] == "wait begun")
            hand.tell(CANCELLED, {"requestId": call, "reason": "no more"})
            until(lambda: lines(log)[-1][0] == "wait cancelled")
            again = hand.call("wait", {"seconds": int(seconds)})["result"]
            assert again["_meta"]["selfcorrect"]["reason"] == "unknown_outcome"
            assert len(lines(log)) == 2 * number + 2, "what may have been done is not done again"
        assert "result" in hand.call("book", {"city": "Rome", "seats": 1})
        assert hand.close() == 0


def test_a_person_may_say_that_it_is_done_again(tmp_path):
    log = tmp_path / "log"
    with by_hand(*PROXY, "--timeout", "2", "--", *raw_server(log)) as hand:
        hand.begin(elicitation={})
        late = hand.call("wait", {"seconds": 9})["result"]
        assert late["_meta"]["selfcorrect"]["reason"] == "unknown_outcome"
        call = hand.ask("tools/call", {"name": "wait", "arguments": {"seconds": 9}})
        asked = hand.read()
        assert asked["method"] == "elicitation/create"
        assert "Do it once more?" in asked["params"]["message"]
        no = {"action": "decline"}
        hand.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": no}).encode())
        answer = hand.read()
        assert answer["id"] == call
        assert answer["result"]["isError"]
        hand.ask("tools/call", {"name": "wait", "arguments": {"seconds": 0}})
        assert not hand.read()["result"].get("isError"), "another call is not in doubt"
        hand.ask("tools/call", {"name": "wait", "arguments": {"seconds": 9}})
        yes = {"action": "accept", "content": {"again": True}}
        hand.write(json.dumps({"jsonrpc": "2.0", "id": hand.read()["id"], "result": yes}).encode())
        hand.read()
        made = [one for one in lines(log) if one.get("params", {}).get("name") == "wait"]
        assert len(made) == 3
        # The server is told, each time, that nobody waits any more.
        until(lambda: [one.get("method") for one in lines(log)].count(CANCELLED) == 2)


def test_a_secret_is_not_asked_for_in_a_form(tmp_path):
    log = tmp_path / "log"
    with by_hand(*PROXY, "--", *raw_server(log)) as hand:
        hand.begin(elicitation={})
        call = {"amount": 1, "to": "Ann", "token": ["a", "b"]}
        answer = hand.call("pay", call)["result"]
        assert answer["_meta"]["selfcorrect"]["reason"] == "needs_person"
        assert answer["isError"]


def test_a_thousand_healthy_messages_pass_byte_for_byte(tmp_path):
    values = ["ü € \\u20ac", 1.10, 12345678901234567890, None]
    raws = []
    for number in range(1, 1001):
        value = json.dumps([number, values[number % 4], {"b": 1, "a": [True, {}]}])
        spaced = number % 3 == 0
        params = f'{{"name":"echo","arguments":{{"value":{value}}},"_meta":{{"x":{number}}}}}'
        raw = f'{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{params}}}'
        if number % 10 == 0:
            raw = f'{{"id":"n{number}","method":"other/{number}","params":{{}},"jsonrpc":"2.0"}}'
        raws.append((raw.replace(":", " : ") if spaced and number % 10 else raw).encode())
    answers, received = [], []
    for place, before in (("direct", ()), ("proxied", (*PROXY, "--"))):
        log = tmp_path / place
        with by_hand(*before, *raw_server(log)) as hand:
            hand.begin()
            hand.call("echo", {"value": 0})
            said = []
            for raw in raws:
                hand.write(raw)
                said.append(hand.process.stdout.readline())
            answers.append(said)
            assert hand.close() == 0
        received.append(log.read_bytes().splitlines()[-1000:])
    assert received[0] == received[1] == raws
    assert answers[0] == answers[1]
    # What the proxy asked itself, before the first call, is the list of tools.
    extra = [one["method"] for one in lines(tmp_path / "proxied")[2:-1000]]
    assert extra == ["tools/list", "tools/list", "tools/call"]


def test_stdout_holds_messages_only_and_a_tool_that_cannot_be_checked_passes(tmp_path):
    with by_hand(*PROXY, "--", *raw_server(tmp_path / "log")) as hand:
        hand.begin()
        hand.ask("noise")
        assert "result" in hand.read()
        assert hand.call("odd", {"a": 1})["result"]["content"]
        refused = hand.call("pay", {"amount": 1, "to": "nobody"})["result"]
        assert refused["content"][0]["text"] == "no such account"
        hand.write(b"[1")
        assert hand.read()["error"]["code"] == -32700
        hand.write(b'[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","method":"x"}]')
        assert hand.read() == {
            "jsonrpc": "2.0",
            "id": "a",
            "error": {"code": -32601, "message": "Method not found"},
        }
        for odd in ({"name": 5}, {"arguments": []}, {"name": "echo", "arguments": "{"}, []):
            hand.ask("tools/call", odd)
            told = hand.read()
            assert "error" in told or told["result"].get("isError"), told
        assert hand.close() == 0
    assert "Server ready!" in hand.errors


def test_a_message_that_can_be_read_in_two_ways_is_not_passed_on(tmp_path):
    log = tmp_path / "log"
    with by_hand(*PROXY, "--", *raw_server(log)) as hand:
        hand.begin(elicitation={})
        hand.call("echo", {"value": 1})
        before = log.read_bytes()
        call = '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}'
        both = '{"name":"pay","arguments":{"to":"ann","to":"bob","amount":1}}'
        hand.write((call % (900, both)).encode())
        told = hand.read()["result"]
        assert told["isError"]
        assert "'to' has two different values, 'ann' and 'bob'" in told["content"][0]["text"]
        assert told["_meta"]["selfcorrect"]["executions"] == 0
        # The method, too: the server could read the other one.
        hand.write(
            (call % (901, both.replace("bob", "ann")))
            .replace("}}}", '}},"method":"ping"}')
            .encode()
        )
        assert "'method' has two different values" in hand.read()["error"]["message"]
        # What is no JSON for us may be a call for the server.
        deep = "[" * 100_000 + "]" * 100_000
        hand.write((call % (902, f'{{"name":"pay","arguments":{deep}}}')).encode())
        assert hand.read()["error"]["code"] == -32700
        hand.write((call % (903, "{'name': 'pay'}")).encode())
        assert hand.read()["error"]["code"] == -32700
        hand.write(b'{"jsonrpc":"2.0","method":"notifications/x","params":{"a":1,"a":2}}')
        assert log.read_bytes() == before
        # The same value twice is one, and passes as it came.
        same = (call % (904, both.replace("bob", "ann"))).encode()
        hand.write(same)
        assert hand.read()["id"] == 904
        assert log.read_bytes() == before + same + b"\n"


def test_a_call_that_no_longer_waits_is_refused(tmp_path):
    log = tmp_path / "log"
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    }
    with by_hand(*PROXY, "--", *raw_server(log)) as hand:
        hand.begin()
        asked = hand.call("pay", {"to": "Ann"}, _meta=meta)["result"]
        assert asked["resultType"] == "input_required"
        answer = {"action": "accept", "content": {"amount": 1}}
        again = {
            "_meta": meta,
            "requestState": asked["requestState"],
            "inputResponses": {"selfcorrect": answer},
        }
        paid = {"amount": 1, "to": "Ann"}
        hand.call("pay", {"to": "Ann"}, **again)
        before = [one for one in lines(log) if one["method"] == "tools/call"]
        assert before[-1]["params"]["arguments"] == paid
        # Sent once more, or after too many others: nobody's answer stands behind it.
        for args in ({"to": "Ann"}, paid):
            for state in (asked["requestState"], "selfcorrect-" + "0" * 32):
                told = hand.call("pay", args, **{**again, "requestState": state})["result"]
                assert told["isError"]
                assert "no longer waits" in told["content"][0]["text"]
        assert [one for one in lines(log) if one["method"] == "tools/call"] == before


def test_a_persons_answer_with_two_values_is_none(tmp_path):
    with by_hand(*PROXY, "--", *raw_server(tmp_path / "log")) as hand:
        hand.begin(elicitation={})
        hand.ask("tools/call", {"name": "pay", "arguments": {"to": "Ann"}})
        id_ = json.dumps(hand.read()["id"])
        yes = '{"action":"decline","action":"accept","content":{"amount":1}}'
        hand.write(f'{{"jsonrpc":"2.0","id":{id_},"result":{yes}}}'.encode())
        assert hand.read()["result"]["isError"]


@pytest.mark.parametrize("options", [(), ("--ledger",)])
def test_what_the_loop_would_not_take_passes_all_the_same(tmp_path, options):
    more = (*options, str(tmp_path / "ledger.db")) if options else ()
    with by_hand(*PROXY, *more, "--", *raw_server(tmp_path / "log")) as hand:
        hand.begin()
        large = hand.call("echo", {"value": "x" * (3 << 20)})["result"]
        assert len(large["content"][0]["text"]) > 3 << 20
        if not options:  # a number that no ledger holds, and the server's own answer to it
            refused = hand.call("pay", {"amount": 12345678901234567890, "to": "nobody"})["result"]
            assert refused["content"][0]["text"] == "no such account"


def test_a_server_that_is_killed_leaves_no_call_without_an_answer(tmp_path):
    log = tmp_path / "log"
    with by_hand(*PROXY, "--", *raw_server(log)) as hand:
        hand.begin()
        calls = [hand.ask("tools/call", {"name": "wait", "arguments": {}})]
        calls.append(hand.ask("tools/call", {"name": "wait", "arguments": {"seconds": "60"}}))
        until(lambda: len([one for one in lines(log) if one["method"] == "tools/call"]) == 2)
        for server in servers_of(hand.process.pid):
            server.send_signal(signal.SIGKILL)
        told = sorted((hand.read() for _ in calls), key=lambda one: one["id"])
        assert [one["id"] for one in told] == calls
        for one in told:
            assert one["error"]["code"] == -32000
            assert "signal 9" in one["error"]["message"]
            assert "nobody knows whether it was done" in one["error"]["message"]
        assert hand.process.wait(20) == 1
        assert hand.process.stdout.read() == b""
    with by_hand(*PROXY, "--", *raw_server(log)) as hand:
        hand.begin()
        assert hand.call("die", {})["error"]["code"] == -32000
        assert hand.process.wait(20) == 1


def test_a_client_that_is_killed_leaves_no_server_behind(tmp_path):
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    command = [sys.executable, "-c", code, *PROXY, "--", *raw_server(tmp_path / "log", "stubborn")]
    holder = subprocess.Popen(command, stdout=subprocess.PIPE)
    proxy = psutil.Process(int(holder.stdout.readline()))
    until(proxy.children)
    server = proxy.children()[0]
    holder.kill()
    holder.wait()
    holder.stdout.close()
    until(lambda: not server.is_running() or server.status() == psutil.STATUS_ZOMBIE)
    until(lambda: not proxy.is_running() or proxy.status() == psutil.STATUS_ZOMBIE)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, None])
def test_a_signal_or_a_closed_stdin_ends_it_with_no_server_left(tmp_path, ending):
    with by_hand(*PROXY, "--", *raw_server(tmp_path / "log", "stubborn")) as hand:
        hand.begin()
        hand.ask("tools/call", {"name": "wait", "arguments": {}})
        servers = servers_of(hand.process.pid)
        assert servers
        if ending is None:
            assert hand.close() == 0
        else:
            hand.process.send_signal(ending)
            assert hand.process.wait(20) == 0
        until(lambda: not any(server.is_running() for server in servers), 5)


def test_a_trail_and_a_ledger_are_kept(tmp_path):
    log, trail, ledger = tmp_path / "log", tmp_path / "trail.jsonl", tmp_path / "ledger.db"
    options = ("--record", str(trail), "--ledger", str(ledger))
    with by_hand(*PROXY, *options, "--", *raw_server(log)) as hand:
        hand.begin()
        assert not hand.call("pay", {"amount": "1.50", "to": "Ann"})["result"].get("isError")
        assert not hand.call("pay", {"amount": 2, "to": "Ann"})["result"].get("isError")
        hand.ask("tools/call", {"name": "wait", "arguments": {"seconds": 60}})
        until(lambda: lines(log)[-1]["params"].get("name") == "wait")
        servers = servers_of(hand.process.pid)
        hand.process.kill()
        hand.process.wait()
        until(lambda: not any(server.is_running() for server in servers), 5)
    runs = lines(trail)
    assert [run["title"] for run in runs] == ["pay"]
    assert runs[0]["result"]
    made = len([one for one in lines(log) if one["method"] == "tools/call"])
    with by_hand(*PROXY, *options, "--", *raw_server(log)) as hand:
        hand.begin()
        answer = hand.call("wait", {"seconds": 60})["result"]
        assert answer["_meta"]["selfcorrect"]["reason"] == "unknown_outcome"
        assert len([one for one in lines(log) if one["method"] == "tools/call"]) == made


def test_wrong_usage_is_refused():
    def refused(*options):
        done = CliRunner().invoke(app, ["proxy", *options])
        assert done.exit_code == 2
        assert done.stdout == ""
        return done.stderr

    assert "-- COMMAND" in refused()
    assert "not both" in refused("--url", "http://localhost/mcp", "--", "node")
    assert "no program" in refused("--", "no-such-program-here")
    assert "--http" in refused("--http", "local", "--", "node")
    assert "--timeout" in refused("--timeout", "0", "--", "node")
    assert "no_such_map" in refused("--strategies", "no_such_map", "--", "node")
    assert "--header" in refused("--header", "x", "--url", "http://localhost/mcp")


def test_a_wait_is_not_a_busy_one(tmp_path):
    with by_hand(*PROXY, "--", *raw_server(tmp_path / "log")) as hand:
        hand.begin()
        hand.call("echo", {"value": 1})
        before = psutil.Process(hand.process.pid).cpu_times()
        time.sleep(1)
        after = psutil.Process(hand.process.pid).cpu_times()
        assert after.user + after.system - before.user - before.system < 0.1
