"""Exceptions that real clients raise against a real server or database get kind and status."""

import json
import sqlite3
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import botocore.session
import httpx
import jsonschema
import openai
import pytest
import requests
import sqlalchemy
from botocore.config import Config
from kit import Tool, table
from pydantic import BaseModel, Field, ValidationError

from selfcorrect import classify
from selfcorrect.testing import play

KINDS = {
    400: "validation", 401: "auth", 403: "auth", 404: "not_found", 408: "timeout", 409: "conflict",
    410: "not_found", 422: "validation", 429: "rate_limit", 503: "transient", 504: "timeout",
}  # fmt: skip


def diagnosis_of(error, **args):
    """Return the one finding about an error that a tool raises, from the trail."""
    tool = Tool(error, schema={name: {} for name in args})
    out = play([tool.spec], {"call": {"name": "t", "args": args}}, limits={"wait": 10**9})
    (finding,) = next(each["findings"] for each in out["trail"] if each["node"] == "diagnose")
    return finding


BODIES = {
    "none": "",
    "vague": json.dumps({"error": {"message": "it went wrong"}}),
    "words": "no luck",
    "page": "<html><body><h1>Error</h1></body></html>",
}


class Server(BaseHTTPRequestHandler):
    """Answers `/STATUS/BODY/...` with that status and body."""

    def do_GET(self):
        _, status, name, *_ = self.path.split("/")
        body = BODIES[name].encode()
        self.send_response(int(status))
        self.send_header("Content-Length", str(len(body)))
        if status == "429":
            self.send_header("Retry-After", "7")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Stay silent."""


@pytest.fixture(scope="module")
def server():
    http = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    Thread(target=http.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{http.server_port}"
    http.shutdown()
    http.server_close()


def ask_openai(url):
    with openai.OpenAI(api_key="none", base_url=url, max_retries=0) as client:
        client.models.list()


def ask_aws(url):
    keys = {"aws_access_key_id": "none", "aws_secret_access_key": "none"}
    config = Config(retries={"max_attempts": 0}, s3={"addressing_style": "path"})
    botocore.session.Session().create_client(
        "s3", region_name="us-east-1", endpoint_url=url, config=config, **keys
    ).list_buckets()


CLIENTS = {
    "httpx": lambda url: httpx.get(url).raise_for_status(),
    "requests": lambda url: requests.get(url, timeout=9).raise_for_status(),
    "openai": ask_openai,
    "aws": ask_aws,
}


@pytest.mark.parametrize("status", KINDS)
@pytest.mark.parametrize("client", CLIENTS)
def test_statuses(server, client, status):
    # AWS answers in XML: its client can read no other body.
    for name in ("none",) if client == "aws" else BODIES:
        with pytest.raises(Exception) as raised:
            CLIENTS[client](f"{server}/{status}/{name}")
        assert classify(raised.value) == KINDS[status]
        wait = 7 if status == 429 and client != "aws" else None
        assert diagnosis_of(raised.value)["retry_after"] == wait


@pytest.mark.parametrize("client", ["httpx", "requests", "openai"])
def test_nobody_answers(client):
    with pytest.raises(Exception) as raised:
        CLIENTS[client]("http://127.0.0.1:9/")
    assert classify(raised.value) == "transient"


SQL = table("live_errors.txt", "queries")  # fmt: skip
TABLE = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT NOT NULL CHECK (length(a) < 5))"


@pytest.mark.parametrize(("query", "kind"), SQL)
def test_databases(query, kind):
    base = sqlite3.connect(":memory:")
    base.execute(TABLE)
    base.execute("INSERT INTO t VALUES (1, 'a')")
    base.commit()
    with pytest.raises(sqlite3.Error) as raised:
        base.execute(query)
    engine = sqlalchemy.create_engine("sqlite://", creator=lambda: base)
    with engine.connect() as connection, pytest.raises(sqlalchemy.exc.DBAPIError) as other:
        connection.execute(sqlalchemy.text(query))
    for error in (raised.value, other.value):
        assert diagnosis_of(error, query=query)["kind"] == kind
    base.close()


class Order(BaseModel, extra="forbid"):
    name: str = Field(min_length=2, pattern="^[a-z]+$")
    seats: int = Field(ge=1, le=9)
    tags: list[str] = []


WRONG = table("live_errors.txt", "orders")  # fmt: skip


@pytest.mark.parametrize(("args", "category", "place"), WRONG)
def test_validators(args, category, place):
    with pytest.raises(ValidationError) as raised:
        Order(**args)
    with pytest.raises(jsonschema.ValidationError) as other:
        jsonschema.validate(args, Order.model_json_schema())
    for error in (raised.value, other.value):
        assert classify(error) == "validation"
        finding = diagnosis_of(error, **args)
        assert (finding["category"], finding["paths"]) == (category, [f"/args/{place}"])


class Misconfigured(Exception):
    """A class that says nothing of its kind."""


class WithStatus(Exception):
    """What a client raises that has an answer with a status, and headers."""

    def __init__(self, status, text, **headers):
        super().__init__(text)
        names = {name.replace("_", "-"): item for name, item in headers.items()}
        self.response = type("Response", (), {"status_code": status, "headers": names})()


@pytest.mark.parametrize("status", [100, 101, 200, 204, 226, 302, 304])
@pytest.mark.parametrize("text", ["status {}", "unexpected answer {}", "see other place", "odd"])
def test_a_status_of_no_failure_says_nothing_of_the_kind(status, text):
    assert classify(WithStatus(status, text.format(status))) == "internal"


@pytest.mark.parametrize(
    ("text", "kind"),
    table("live_errors.txt", "bodies"),
)
def test_behind_a_status_of_no_failure_a_body_and_a_rule_still_speak(text, kind):
    assert classify(WithStatus(200, text)) == kind


@pytest.mark.parametrize("text", ["misconfigured", "misconfigurated", "reanswer it"])
def test_what_no_word_tells_is_internal(text):
    assert classify(Misconfigured(text)) == "internal"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    table("live_errors.txt", "headers"),
)
def test_a_wait_is_read_from_the_headers(headers, seconds):
    assert diagnosis_of(WithStatus(429, "busy", **headers))["retry_after"] == seconds
