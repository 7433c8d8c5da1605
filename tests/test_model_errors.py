"""Model calls that fail: what a handler decides, what the transport repeats, what is counted."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from email.utils import format_datetime
from http.client import IncompleteRead, RemoteDisconnected
from types import SimpleNamespace
from typing import Any
from urllib.error import URLError

import httpx
import pytest

from selfcorrect import ToolSpec, build_graph
from selfcorrect.errors import BudgetSpent, ModelFailed
from selfcorrect.limits import Limits
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import assemble
from selfcorrect.loop.walk import walk
from selfcorrect.models.port import CountingModel
from selfcorrect.models.recovery import Answer, Turn
from selfcorrect.models.transport import client_retries, wait_before
from selfcorrect.policies import RespondWith, Rethrow, RetryModel
from selfcorrect.testing import ScriptedModel, VirtualTime


def book(seats: int) -> str:
    """Book."""
    return f"{seats} seats"


BROKEN = {"call": {"name": "book", "args": {}}, "request": "for two"}


def run(script: list[Any], on_model_error: Any = None, **options: Any) -> Any:
    model, time = ScriptedModel(script), VirtualTime()
    chosen = Options(model=model, time=time, on_model_error=on_model_error, **options)
    loop = assemble([ToolSpec.from_function(book)], chosen)
    return walk(loop, BROKEN), model, time.slept


def port(model, sleep=None, **limits):
    """A port to a model, and what it counts."""
    counts: dict[str, Any] = {}

    async def invoke(asked, messages, seconds=None):
        return await asked.ainvoke(messages)

    more = {} if sleep is None else {"sleep": sleep}
    return CountingModel(model, counts, Limits.model_validate(limits), invoke, **more), counts


class TestHandler:
    def test_the_default_is_the_failure(self):
        out, model, slept = run([RuntimeError("down")])
        assert out["failure"]["reason"] == "needs_person"
        assert (len(model.prompts), slept) == (1, [])

    def test_a_retry_backs_off_and_doubles(self):
        script = [RuntimeError("1"), RuntimeError("2"), {"seats": 2}]
        out, _, slept = run(script, lambda error: RetryModel(3, 0.5))
        assert (out["result"], slept) == ("2 seats", [0.5, 1.0])
        assert sum(event.get("model_calls", 0) for event in out["trail"]) == 3

    def test_the_attempts_include_the_first(self):
        _, model, slept = run([RuntimeError("down")] * 9, lambda error: RetryModel(2))
        assert (len(model.prompts), slept) == (2, [0.5])

    def test_a_handler_may_change_its_mind(self):
        decisions = iter([RetryModel(3), RespondWith({"seats": 4})])
        out, model, _ = run([RuntimeError("down")] * 9, lambda error: next(decisions))
        assert (out["result"], len(model.prompts)) == ("4 seats", 1 + 1)

    @pytest.mark.parametrize("value", [{"seats": "many"}, "prose", 5, {"wings": 2}, None])
    def test_an_answer_of_ones_own_is_checked_like_any_other(self, value):
        out, _, _ = run([RuntimeError("down")] * 9, lambda error: RespondWith(value))
        assert out["failure"]["reason"] == "needs_person"

    @pytest.mark.parametrize(
        "handler",
        [lambda error: Rethrow(), lambda error: None, lambda error: 5, lambda error: 1 / 0],
    )
    def test_anything_else_is_the_failure(self, handler):
        out, model, _ = run([RuntimeError("down")] * 9, handler)
        assert (out["failure"]["reason"], len(model.prompts)) == ("needs_person", 1)

    def test_retries_end_with_the_budget(self):
        out, model, _ = run(
            [RuntimeError("x")] * 99, lambda error: RetryModel(99), limits={"model_calls": 3}
        )
        assert len(model.prompts) == 3
        assert out["failure"]["counts"]["model_calls"] == 3

    def test_and_with_the_deadline(self):
        _, model, slept = run(
            [RuntimeError("x")] * 99,
            lambda error: RetryModel(9, 20),
            limits={"seconds": 50, "model_calls": 9},
        )
        assert sum(slept) < 50
        assert len(model.prompts) <= 3

    def test_the_original_is_rethrown_the_very_object(self):
        error = ConnectionError("down")
        turn = Turn(lambda error: RetryModel(1))
        with pytest.raises(ConnectionError) as caught:
            turn.after(error)
        assert caught.value is error

    def test_a_model_that_cannot_plan_raises_the_original_where_raising_is_wanted(self):
        error = RuntimeError("down")
        graph = build_graph([book], model=ScriptedModel([error]), on_failure="raise")
        with pytest.raises(RuntimeError) as caught:
            graph.invoke({"request": "two seats"})
        assert caught.value is error

    def test_budgets_are_never_its_business(self):
        error = BudgetSpent("4 of 4")
        with pytest.raises(BudgetSpent):
            Turn(lambda error: RespondWith("x")).after(error)
        assert Turn(lambda error: RespondWith("x")).after(OSError()) == Answer("x")

    def test_the_graph_takes_it_by_name(self):
        graph = build_graph(
            [book],
            model=ScriptedModel([OSError("x")]),
            on_model_error=lambda error: RespondWith({"seats": 7}),
        )
        assert graph.invoke(BROKEN)["result"] == "7 seats"


def status(code: int, **headers: str) -> Exception:
    error = RuntimeError(str(code))
    error.response = SimpleNamespace(status_code=code, headers=headers)
    return error


class ReadError(Exception):
    """As an HTTP client names a lost connection."""


class APITimeoutError(ConnectionError):
    """As a provider's client names a timeout."""


class TestTransport:
    @pytest.mark.parametrize("code", [408, 429, 500, 502, 503, 504])
    def test_busy_servers(self, code):
        assert [wait_before(status(code), n) for n in (1, 2, 3)] == [0.25, 0.5, None]

    @pytest.mark.parametrize(
        "error",
        [
            status(400),
            status(401),
            status(404),
            status(501),
            TimeoutError(),
            APITimeoutError(),
            ValueError(),
            PermissionError(13, "Permission denied"),
            FileNotFoundError(2, "No such file or directory"),
            ssl.SSLCertVerificationError(1, "certificate verify failed"),
            URLError(ssl.SSLCertVerificationError(1, "certificate verify failed")),
            URLError(TimeoutError("timed out")),
            httpx.ConnectTimeout("timed out"),
        ],
        ids=repr,
    )
    def test_what_repeating_does_not_help(self, error):
        assert wait_before(error, 1) is None

    @pytest.mark.parametrize(
        "error",
        [
            ConnectionResetError(),
            ReadError(),
            ConnectionRefusedError(),
            OSError(errno.ENETUNREACH, "Network is unreachable"),
            OSError(errno.EHOSTUNREACH, "No route to host"),
            socket.gaierror(-2, "Name or service not known"),
            socket.gaierror(8, "nodename nor servname provided, or not known"),
            URLError(socket.gaierror(-3, "Temporary failure in name resolution")),
            URLError(OSError(errno.EHOSTUNREACH, "No route to host")),
            EOFError("unexpected EOF"),
            IncompleteRead(b""),
            RemoteDisconnected("closed without response"),
            ssl.SSLEOFError(8, "EOF occurred in violation of protocol"),
            httpx.ConnectError("[Errno -2] Name or service not known"),
            httpx.RemoteProtocolError("peer closed connection"),
        ],
        ids=repr,
    )
    def test_lost_connections(self, error):
        assert wait_before(error, 1) == 0.25

    def test_retry_after_is_a_floor(self):
        from datetime import UTC, datetime, timedelta

        assert wait_before(status(429, **{"retry-after": "3"}), 1) == 3.0
        assert wait_before(status(429, **{"retry-after": "0"}), 1) == 0.25
        assert wait_before(status(429, **{"retry-after": "3600"}), 1) is None
        assert wait_before(status(429, **{"retry-after": "soon"}), 1) == 0.25
        later = format_datetime(datetime.now(UTC) + timedelta(seconds=9), usegmt=True)
        assert 5 < (wait_before(status(503, **{"retry-after": later}), 1) or 0) <= 9

    def test_inside_a_run(self):
        out, model, slept = run([ConnectionError("x"), status(503), {"seats": 2}])
        assert (out["result"], slept, len(model.prompts)) == ("2 seats", [0.25, 0.5], 3)

    def test_below_the_handler(self):
        asked = []

        def handler(error):
            asked.append(error)
            return Rethrow()

        _, model, _ = run([ConnectionError("x")] * 9, handler)
        assert (len(model.prompts), len(asked)) == (3, 1)
        assert isinstance(asked[0], ConnectionError)

    def test_it_does_not_multiply_with_the_clients_own_retries(self):
        class Client(ScriptedModel):
            max_retries: int = 2

        model = Client([ConnectionError("x")] * 9)
        assert client_retries(model)
        assert client_retries(model.bind(stop=["x"]))
        with pytest.raises(ModelFailed):
            asyncio.run(port(model)[0].messages("?"))
        assert len(model.prompts) == 1
        build_graph([book], model=model).invoke(BROKEN)
        assert len(model.prompts) == 2

    def test_the_original_exception_is_kept(self):
        errors = [ConnectionError(str(n)) for n in range(3)]
        with pytest.raises(ModelFailed) as caught:
            asyncio.run(port(ScriptedModel(errors))[0].messages("?"))
        assert caught.value.__cause__ is errors[2]

    def test_awaited_and_bound(self):
        slept = []

        async def asleep(seconds):
            slept.append(seconds)

        model = ScriptedModel([ConnectionError("x"), "here", ConnectionError("y")])
        asking, counts = port(model, sleep=asleep)
        assert asyncio.run(asking.messages("?", model.bind_tools([]))).content == "here"
        assert (slept, counts["model_calls"], len(model.prompts)) == ([0.25], 2, 2)


class TestUsage:
    def test_failed_answers_are_counted_too(self):
        asking, counts = port(ScriptedModel(["prose", {"a": 1}]))
        with pytest.raises(ModelFailed):
            asyncio.run(asking("?", {}))
        assert asyncio.run(asking("?", {})) == {"a": 1}
        assert (counts["model_calls"], counts["tokens"]) == (2, 20)
        assert counts["model_seconds"] >= 0

    def test_money_from_the_users_price_table(self):
        from langchain_core.messages import AIMessage

        usage = {"input_tokens": 1000, "output_tokens": 500, "total_tokens": 1500}
        answer = AIMessage('{"a": 1}', usage_metadata=usage, response_metadata={"model_name": "m"})
        prices = {"m": {"input": 1.0, "output": 4.0}, "*": {"input": 9.0, "output": 9.0}}
        asking, counts = port(ScriptedModel([answer, answer]), prices=prices, cost=0.003)
        asyncio.run(asking("?", {}))
        assert counts["cost"] == pytest.approx(0.003)
        with pytest.raises(BudgetSpent, match="money"):
            asyncio.run(asking("?", {}))

    @pytest.mark.parametrize("limits", [{"tokens": 5}, {"tokens": 0}, {"model_calls": 0}])
    def test_bounds_hold_before_anything_is_paid(self, limits):
        model = ScriptedModel([{"a": 1}])
        asking, _ = port(model, **limits)
        with pytest.raises(BudgetSpent):
            asyncio.run(asking("a prompt of some length", {}))
        assert model.prompts == []

    @pytest.mark.parametrize(
        "said", [None, {"total_tokens": -5}, {"total_tokens": "many"}, {"total_tokens": 10**40}, {}]
    )
    def test_odd_usage_breaks_nothing(self, said):
        from selfcorrect.models.usage import usage_of

        usage = usage_of(SimpleNamespace(usage_metadata=said))
        assert 0 <= usage.total <= 10**9

    def test_trail_and_report_carry_them(self):
        out, _, _ = run([{"seats": 2}])
        *free, paid = [event for event in out["trail"] if event["node"] == "repair"]
        assert (paid["model_calls"], paid["tokens"]) == (1, 10)
        assert not any("model_calls" in event for event in free)

    def test_a_planned_call_shows_its_price(self):
        from selfcorrect.testing import tool_call

        model = ScriptedModel([tool_call("book", seats=2)])
        out = build_graph([book], model=model).invoke({"request": "two seats"})
        assert out["trail"][0]["model_calls"] == 1
