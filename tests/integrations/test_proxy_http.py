"""The proxy over streamable HTTP, on either side of it."""

from __future__ import annotations

import json
import signal
import subprocess
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx
import psutil
import pytest
import uvicorn
from mcp.shared.exceptions import McpError
from mcp.types import CreateMessageResult, ElicitResult, TextContent
from proxy_kit import (
    INITIALIZE,
    NPM,
    PROXY,
    by_hand,
    client,
    lines,
    npm,
    raw_server,
    serving,
    shop,
    until,
    web_client,
    web_shop,
)

EVENTS = {"accept": "application/json, text/event-stream"}


def anyhow(work):
    anyio.run(work)


def begun(url, **headers):
    """A session begun by hand: the headers of its requests."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
    answer = httpx.post(url, json=message, headers={**EVENTS, **headers}, timeout=30)
    assert answer.status_code == 200, answer.text
    return {**EVENTS, **headers, "mcp-session-id": answer.headers["mcp-session-id"]}


def asked(url, headers, method, params, number=2):
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return httpx.post(url, json=message, headers=headers, timeout=30)


async def same_over(client_of, log):
    """What holds however the proxy is reached and reaches its server."""
    progress = []

    async def elicited(context, params):
        field = next(iter(params.requestedSchema["properties"]))
        return ElicitResult(action="accept", content={field: True if field == "sure" else 7})

    async def sampled(context, params):
        text = TextContent(type="text", text="42")
        return CreateMessageResult(role="assistant", content=text, model="m")

    async def progressed(*step):
        progress.append(step[:2])

    callbacks = {"elicitation_callback": elicited, "sampling_callback": sampled}
    async with client_of(**callbacks) as session:
        answer = await session.call_tool("Book", {"City": "Rome", "seats": "two"})
        assert answer.structuredContent == {"id": 2, "cabin": "economy"}
        assert len(lines(log)) == 1
        answer = await session.call_tool("book", {"city": "Rome"})
        assert answer.structuredContent["id"] == 7, "a person was asked"
        assert (await session.call_tool("confirm", {})).content[0].text == "accept True"
        assert (await session.call_tool("think", {"question": "?"})).content[0].text == "42"
        await session.call_tool("count", {"steps": "3"}, progress_callback=progressed)
        assert progress == [(1, 3), (2, 3), (3, 3)]
        assert (await session.read_resource("shop://terms")).contents[0].text == "no refunds"
        await session.call_tool("grow", {})
        assert "shrink" in {tool.name for tool in (await session.list_tools()).tools}


def test_from_stdio_to_http(tmp_path):
    log = tmp_path / "log"
    with web_shop(log) as url:

        @asynccontextmanager
        async def client_of(**callbacks):
            async with client(*PROXY, "--url", url, **callbacks) as session:
                yield session

        anyhow(lambda: same_over(client_of, log))


def test_from_http_to_stdio_in_several_sessions(tmp_path):
    log = tmp_path / "log"
    with serving("--", *shop(log)) as url:
        anyhow(lambda: same_over(lambda **more: web_client(url, **more), log))

        async def work():
            async with web_client(url) as one, web_client(url) as other:
                await one.call_tool("grow", {})
                names = [tool.name for tool in (await one.list_tools()).tools]
                assert "shrink" in names
                names = [tool.name for tool in (await other.list_tools()).tools]
                assert "shrink" not in names, "each has a server of its own"
                with pytest.raises(McpError, match="Connection closed"):
                    await one.call_tool("crash", {})
                answer = await other.call_tool("book", {"city": "Oslo", "seats": "5"})
                assert answer.structuredContent["id"] == 5, "the others go on"

        anyhow(work)


def test_from_http_to_http(tmp_path):
    log = tmp_path / "log"
    with web_shop(log) as behind, serving("--url", behind) as url:
        anyhow(lambda: same_over(lambda **more: web_client(url, **more), log))


def test_a_client_of_the_typescript_sdk():
    command = (*npm("server-everything"), "stdio")

    def check(*where):
        script = Path(__file__).parent / "proxy_client.mjs"
        given = ["node", str(script), str(NPM / "sdk"), *where]
        done = subprocess.run(given, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
        seen = json.loads(done.stdout)
        assert seen["mended"]["content"][0]["text"] == "The sum of 2 and 3 is 5."
        assert seen["asked"]["content"][0]["text"] == "The sum of 2 and 4 is 6."
        # The SDK lets go of its handler with the answer: what comes in the same piece is not heard.
        assert seen["progress"] in ([1, 2], [1])
        assert "enough" in seen["cut"]
        assert seen["healthy"] == {"content": [{"type": "text", "text": "Echo: x"}]}

    check(*PROXY, "--", *command)
    with serving("--", *command) as url:
        check(url)


def test_only_pages_of_this_machine_may_ask(tmp_path):
    with serving("--", *raw_server(tmp_path / "log")) as url:
        begun(url)
        begun(url, origin="http://localhost:3000")
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
        for headers in ({"origin": "https://evil.example"}, {"host": "evil.example"}):
            answer = httpx.post(url, json=message, headers={**EVENTS, **headers})
            assert answer.status_code == 403
        headers = begun(url)
        assert asked(url, headers, "ping", {}).json()["error"]["code"] == -32601
        assert httpx.post(url, content=b"{", headers=headers).json()["error"]["code"] == -32700
        assert asked(url, EVENTS, "ping", {}).status_code == 400
        assert httpx.delete(url, headers=headers).status_code == 200
        gone = asked(url, headers, "ping", {})
        assert gone.status_code == 404
        assert gone.json()["error"]["code"] == -32001
        assert httpx.get(url.replace("/mcp", "/.well-known/oauth")).status_code == 404
        newest = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
        told = asked(url, EVENTS, "server/discover", newest).json()["error"]
        assert told["code"] == -32022
        assert "2025-11-25" in told["data"]["supported"]


def test_an_ended_session_leaves_no_server_and_a_lost_connection_does_not_end_it(tmp_path):
    with serving("--", *raw_server(tmp_path / "log", "stubborn")) as url:
        proxy = next(
            one.pid
            for one in psutil.net_connections("tcp")
            if one.status == "LISTEN" and one.laddr.port == httpx.URL(url).port
        )
        headers = begun(url)
        call = {"name": "wait", "arguments": {"seconds": 60}}
        message = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": call}
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(url, json=message, headers=headers, timeout=1)
        echo = {"name": "echo", "arguments": {"value": 1}}
        assert "result" in asked(url, headers, "tools/call", echo, 6).json()
        servers = psutil.Process(proxy).children()
        assert len(servers) == 1
        httpx.delete(url, headers=headers, timeout=30)
        until(lambda: not servers[0].is_running())


def test_a_server_that_is_killed_ends_its_session_with_an_error_for_each_call(tmp_path):
    with serving("--", *raw_server(tmp_path / "log")) as url:
        headers = begun(url)
        answer = asked(url, headers, "tools/call", {"name": "die", "arguments": {}})
        told = answer.json()["error"]
        assert told["code"] == -32000
        assert "signal 9" in told["message"]
        until(lambda: asked(url, headers, "ping", {}).status_code == 404)
        begun(url)


class Behind:
    """A server of the test's own over HTTP, which says what reached it."""

    def __init__(self, **answers):
        self.seen = []
        self.answers = answers

    async def __call__(self, scope, receive, send):
        message = await receive()
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        given = json.loads(message["body"]) if message.get("body") else {}
        self.seen.append((scope["method"], given.get("method"), headers))
        status, more, body = 202, [], b""
        if scope["method"] == "GET":
            status = 405
        elif headers.get("authorization") == "Bearer bad":
            status, more = 401, [(b"www-authenticate", b'Bearer realm="x"')]
        elif "id" in given:
            result = {"protocolVersion": "2025-06-18", "tools": []}
            told = {"jsonrpc": "2.0", "id": given["id"], "result": result}
            status, body = 200, json.dumps(told).encode()
            more = [(b"content-type", b"application/json"), (b"mcp-session-id", b"s1")]
        await send({"type": "http.response.start", "status": status, "headers": more})
        await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def behind(app):
    """An ASGI application over HTTP; its URL."""
    config = uvicorn.Config(app, port=0, log_config=None, lifespan="off", access_log=False)
    server = uvicorn.Server(config)
    async with anyio.create_task_group() as group:
        group.start_soon(server.serve)
        while not server.started:  # noqa: ASYNC110 -- it has no event
            await anyio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/mcp"
        server.should_exit = True


def test_a_clients_authorization_is_passed_on_and_a_refusal_comes_back():
    app = Behind()

    def work(url):
        with serving("--url", url, "--header", "X-Team: blue") as proxied:
            headers = begun(proxied, authorization="Bearer good", cookie="c=1")
            asked(proxied, headers, "tools/list", {})
            message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
            bad = {**EVENTS, "authorization": "Bearer bad"}
            refused = httpx.post(proxied, json=message, headers=bad)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == 'Bearer realm="x"'
            assert "401" in refused.json()["error"]["message"]

    async def run():
        async with behind(app) as url:
            await anyio.to_thread.run_sync(work, url)

    anyhow(run)
    first, listed = app.seen[0], next(one for one in app.seen if one[1] == "tools/list")
    assert first[2]["authorization"] == listed[2]["authorization"] == "Bearer good"
    assert first[2]["x-team"] == "blue"
    assert "cookie" not in first[2]
    assert listed[2]["mcp-session-id"] == "s1"
    assert listed[2]["mcp-protocol-version"] == "2025-06-18"


class Refusing:
    """A server that refuses a first call by HTTP, and a second one by breaking off."""

    def __init__(self):
        self.calls = 0

    async def __call__(self, scope, receive, send):
        message = await receive()
        given = json.loads(message["body"]) if message.get("body") else {}
        if given.get("method") == "tools/call":
            self.calls += 1
        status = [200, 403, 200, 502][self.calls] if given.get("method") == "tools/call" else 200
        schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
        result = {"tools": [{"name": "act", "inputSchema": schema}], "content": []}
        told = {"jsonrpc": "2.0", "id": given.get("id"), "result": result}
        headers = [(b"content-type", b"application/json")]
        status = status if "id" in given else 202
        await send({"type": "http.response.start", "status": status, "headers": headers})
        body = json.dumps(told).encode() if status == 200 else b""
        await send({"type": "http.response.body", "body": body})


def test_what_http_refuses_was_not_done_and_what_broke_off_may_have_been():
    app = Refusing()

    def work(url):
        with by_hand(*PROXY, "--url", url) as hand:
            hand.ask("initialize", INITIALIZE)
            hand.read()
            assert "HTTP 403" in hand.call("act", {"a": 1})["error"]["message"]
            assert "result" in hand.call("act", {"a": 1}), "it may be made again"
            assert "HTTP 502" in hand.call("act", {"a": 1})["error"]["message"]
            told = hand.call("act", {"a": 1})["result"]
            assert told["_meta"]["selfcorrect"]["reason"] == "unknown_outcome"
        assert app.calls == 3

    async def run():
        async with behind(app) as url:
            await anyio.to_thread.run_sync(work, url)

    anyhow(run)


class Breaking:
    """A server whose streams break off in the middle; with marks, they can be taken up again."""

    def __init__(self):
        self.resumed = []

    async def __call__(self, scope, receive, send):
        message = await receive()
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        given = json.loads(message["body"]) if message.get("body") else {}
        start = {"type": "http.response.start", "status": 200}
        start["headers"] = [(b"content-type", b"text/event-stream")]
        mark = headers.get("last-event-id")
        if "id" not in given and mark is None:
            await send({"type": "http.response.start", "status": 405, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await send(start)
        if mark is not None:
            self.resumed.append(mark)
            told = {"jsonrpc": "2.0", "id": int(mark), "result": {"resumed": True}}
            body = f"id: {mark}b\r\ndata: {json.dumps(told)}\r\n\r\n"
        elif given["method"] == "marked":
            body = f"id: {given['id']}\nretry: 10\ndata:\n\n"
        elif given["method"] == "unmarked":
            body = ": nothing\n\n"
        else:
            told = {"jsonrpc": "2.0", "id": given["id"], "result": {"first": 1}}
            first, second = json.dumps(told).split('"first": ')
            body = f'data: {first}\ndata: "first": {second}\n\n'
        await send({"type": "http.response.body", "body": body.encode()})


def test_a_stream_that_breaks_off_is_taken_up_again_or_answered_with_an_error():
    app = Breaking()

    def work(url):
        with by_hand(*PROXY, "--url", url) as hand:
            assert [hand.ask("initialize", INITIALIZE), hand.read()["result"]] == [1, {"first": 1}]
            hand.ask("marked")
            assert hand.read()["result"] == {"resumed": True}
            hand.ask("unmarked")
            assert "the stream ended" in hand.read()["error"]["message"]
            assert hand.close() == 0
        assert app.resumed == ["2"]

    async def run():
        async with behind(app) as url:
            await anyio.to_thread.run_sync(work, url)

    anyhow(run)
    with by_hand(*PROXY, "--url", "http://127.0.0.1:9/mcp") as hand:
        hand.ask("initialize", INITIALIZE)
        assert "ConnectError" in hand.read()["error"]["message"]
        hand.process.send_signal(signal.SIGINT)
        assert hand.process.wait(20) == 0
