"""Tasks whose failures are answers: done in part, not yet, a library's word, a service's body.

Entered into `told_tasks.TASKS` on import.
"""

from __future__ import annotations

import asyncio
import io
import ipaddress
import json
import sqlite3
import statistics
import urllib.error
import zoneinfo
from collections.abc import Callable
from email.message import Message
from types import ModuleType
from typing import Any

import httpx
import requests
from langchain_core.tools import ToolException
from obedient import Call, Part
from told_tasks import EITHER, UNSURE, Kit, World, answered, task

from selfcorrect import NotDone

AGAIN_ALL = ("correct the call and call again",)
NO_FAULT = ("fault in the tool", "cannot succeed")


class ImportFailed(Exception):
    """What an application makes for itself."""


def library(source: str) -> ModuleType:
    """A module as it stands where libraries are installed."""
    made = ModuleType("wayfinder.client")
    code = compile(source, "/usr/lib/python3/site-packages/wayfinder/client.py", "exec")
    exec(code, made.__dict__)
    return made


WAYFINDER = library(
    """
class WayError(Exception): pass
class StopError(WayError): pass
MODES = ("bus", "ferry")
def route(start, end, mode):
    if mode not in MODES:
        raise ValueError(f"no route from {start} to {end} by {mode!r}; use one of: bus, ferry")
    return mode
def stop(name):
    if name != "Bergen":
        raise StopError(f"no such stop {name!r}. Did you mean 'Bergen'?")
    return name
def book(seat):
    raise WayError(f"seat {seat} could not be confirmed: the operator's desk is closed")
def timetable(day):
    raise RuntimeError(f"no timetable is published for {day}")
def length(rows):
    return rows[0]["length"] + 1
"""
)


# Done in part


def in_part(
    title: str, fails: Callable[[], Any], words: str, effect: str | None = None, **more: Any
) -> None:
    """Enters an import that does half of it before it refuses."""
    part = Part(
        "Import the file people.csv.",
        (Call("import_people", {"file": "people.csv"}),),
        {"file": ("people.csv",)},
    )
    shape = more.pop("shape", "function")

    def make(world: World) -> list[Kit]:
        def import_people(file: str) -> Any:
            """Import people from a file."""
            world.runs += 1
            world.did("import_people", file=file, rows=10)
            return fails()

        return [Kit(import_people, effect, shape)]

    task(
        title,
        "in part",
        part,
        [("import_people", {"file": "people.csv", "rows": 10})],
        "A part was imported, and then it failed. Do not repeat it: " + more.pop("ideal", ""),
        ends=EITHER,
        words=(words,),
        most=1,
        unsaid=AGAIN_ALL,
        **more,
    )(make)


def raises(error: Callable[[], BaseException]) -> Callable[[], Any]:
    def fails() -> Any:
        raise error()

    return fails


TEN = "Imported 10 records, then: invalid email in record 11"
ELEVEN = "record 11"
in_part("an import, its own class", raises(lambda: ImportFailed(TEN)), ELEVEN, ideal=TEN)
in_part("an import, a ValueError", raises(lambda: ValueError(TEN)), ELEVEN, "mutating", ideal=TEN)
in_part(
    "an import, a LookupError",
    raises(lambda: LookupError("10 records are in; group 'ops' of record 11 was not found")),
    ELEVEN,
    ideal=ELEVEN,
)
in_part(
    "an import, told by its author",
    raises(lambda: ToolException(TEN)),
    ELEVEN,
    "mutating",
    shape="told",
    ideal=TEN,
)
in_part(
    "an import on a server",
    raises(lambda: ToolException(f"Error: {TEN}")),
    ELEVEN,
    shape="server",
    ideal=TEN,
)
in_part("an import, a value", lambda: {"error": TEN, "imported": 10}, ELEVEN, ideal=TEN)
in_part(
    "an import, a RuntimeError",
    raises(lambda: RuntimeError("stopped at record 11: its email is invalid")),
    ELEVEN,
    "mutating",
    ideal=ELEVEN,
)
in_part(
    "an import, then a notification that the service refuses",
    lambda: answered(422, {"message": "notify: template 'welcome' is unknown"}).raise_for_status(),
    "welcome|notify",
    ideal="notify: template 'welcome' is unknown",
)
in_part(
    "an import, then an address that the service does not have",
    lambda: answered(404, {"message": "no webhook for imports"}).raise_for_status(),
    "webhook|404",
    "mutating",
    ideal="no webhook for imports",
)
in_part(
    "an import, then a library's own class",
    lambda: WAYFINDER.book("12A"),
    f"seat 12A|{UNSURE}",
    ideal="seat 12A",
)


@task(
    "an import that says how to go on",
    "in part",
    Part(
        "Import the file people.csv, and skip what is invalid.",
        (Call("import_people", {"file": "people.csv", "first": 1}),),
        {"file": ("people.csv",)},
    ),
    [("import_people", {"first": 1, "last": 10}), ("import_people", {"first": 12, "last": 20})],
    'Records 1 to 10 are in. To go on, call again with {"file": "people.csv", "first": 12}.',
    most=2,
)
def goes_on(world: World) -> list[Kit]:
    def import_people(file: str, first: int = 1) -> Any:
        """Import people from a file."""
        world.runs += 1
        if first == 12:
            return world.did("import_people", first=12, last=20)
        world.did("import_people", first=1, last=10)
        raise ImportFailed(
            "Records 1 to 10 are in, record 11 has no valid email. To skip it, "
            'call with {"file": "people.csv", "first": 12}'
        )

    return [Kit(import_people)]


@task(
    "a transfer of which its author knows that nothing was done",
    "in part",
    Part(
        "Send 5 euros to EVA.",
        (Call("send", {"to": "EVA", "amount": 5, "currency": "euros"}),),
        {"to": ("EVA",), "amount": (5,), "currency": ("euros", "EUR")},
        firm=frozenset({"amount"}),
    ),
    [("send", {"to": "EVA", "amount": 5, "currency": "EUR"})],
    "Nothing was sent. currency must be a three-letter code, ISO 4217. Call again.",
)
def nothing_sent(world: World) -> list[Kit]:
    def send(to: str, amount: int, currency: str) -> str:
        """Send money."""
        world.runs += 1
        if currency != "EUR":
            raise NotDone("currency must be a three-letter ISO 4217 code")
        return world.did("send", to=to, amount=amount, currency=currency)

    return [Kit(send, "mutating")]


# Not yet


def pending(
    title: str,
    fails: Callable[[World], Any],
    ready_s: float = 2.0,
    effect: str | None = "read_only",
    **more: Any,
) -> None:
    """Enters a result that is there after a while."""
    part = Part("Get the film r-3.", (Call("get_film", {"job": "r-3"}),), {"job": ("r-3",)})
    shape, ideal = more.pop("shape", "function"), more.pop("ideal", "")

    def make(world: World) -> list[Kit]:
        def get_film(job: str) -> Any:
            """Get a film that was rendered."""
            world.runs += 1
            world.state.setdefault("ready", world.now() + ready_s)
            if world.now() < world.state["ready"]:
                return fails(world)
            return world.did("get_film", job=job)

        return [Kit(get_film, effect, shape)]

    wanted = more.pop("wanted", [("get_film", {"job": "r-3"})])
    ideals = ideal or "It is not ready yet. Try again in 2 seconds."
    more = {"most": 6, "unsaid": (*NO_FAULT, "do not repeat"), **more}
    task(title, "pending", part, wanted, ideals, **more)(make)


def raising(error: Callable[[World], BaseException]) -> Callable[[World], Any]:
    def fails(world: World) -> Any:
        raise error(world)

    return fails


def progress(world: World) -> str:
    return f"Job r-3 is still rendering ({40 + 10 * world.runs} %). Try again in 2 seconds"


pending("a film at 40 %", raising(lambda world: RuntimeError(progress(world))))
pending("a film at 40 %, undeclared", raising(lambda world: RuntimeError(progress(world))), 2, None)
pending(
    "a film at 40 %, told by its author",
    raising(lambda world: ToolException(progress(world))),
    shape="told",
)
pending("a film at 40 %, a value", lambda world: {"error": progress(world), "retry": True})
pending(
    "a film that is not ready",
    raising(lambda _world: RuntimeError("r-3 is not ready, the film is being rebuilt")),
    1.0,
    ideal="It is not ready yet: try again in a moment.",
)
pending(
    "a film that is not ready, on a server",
    raising(lambda _world: ToolException("Error: r-3 is not ready yet, rebuilding")),
    1.0,
    shape="server",
    ideal="It is not ready yet: try again in a moment.",
)
pending(
    "a film that is being made, a service's code",
    lambda _world: {"error": {"code": "PROCESSING", "message": "r-3 is still being processed"}},
    1.0,
    ideal="It is not ready yet: try again in a moment.",
)
pending(
    "a film behind a status and a header",
    lambda _world: answered(
        503, {"message": "the film is being rebuilt"}, Retry_After="1"
    ).raise_for_status(),
    1.0,
)
pending(
    "a film that takes an hour",
    raising(lambda _world: RuntimeError("r-3 is still rendering. Try again in 1 hour")),
    3600.0,
    wanted=[],
    ends=EITHER,
    words=("render",),
    ideal="It is still rendering. Try again in 1 hour.",
    most=3,
)
pending(
    "a film that is never there",
    raising(lambda _world: RuntimeError("r-3 is still rendering. Try again in 1 second")),
    1e9,
    wanted=[],
    ends=EITHER,
    words=("render",),
    ideal="It is still rendering. Try again in 1 second.",
    most=12,  # two calls, and six attempts of each under the most patient map
)
pending(
    "a film whose state is no error",
    lambda _world: {"status": "PROCESSING", "progress": 40},
    1e9,
    wanted=[],
    ends=EITHER,
    words=("PROCESSING",),
    ideal='{"status": "PROCESSING", "progress": 40}',
    most=2,
)


@task(
    "a film that is not ready, awaited",
    "pending",
    Part("Get the film r-3.", (Call("get_film", {"job": "r-3"}),), {"job": ("r-3",)}),
    [("get_film", {"job": "r-3"})],
    "It is not ready yet. Try again in 2 seconds.",
    most=6,
    unsaid=NO_FAULT,
    is_async=True,
)
def awaited(world: World) -> list[Kit]:
    async def get_film(job: str) -> str:
        """Get a film that was rendered."""
        world.runs += 1
        await asyncio.sleep(0)
        world.state.setdefault("ready", world.now() + 2)
        if world.now() < world.state["ready"]:
            raise RuntimeError(progress(world))
        return world.did("get_film", job=job)

    return [Kit(get_film, "read_only")]


# What a library says


def says(
    title: str,
    ask: Callable[[Any], Any],
    forms: tuple[str, ...],
    ideal: str,
    effect: str | None = "read_only",
    **more: Any,
) -> None:
    """Enters a look-up whose answer comes out of a library's code."""
    part = Part(f"Look up {forms[0]}.", (Call("look_up", {"item": forms[0]}),), {"item": forms})

    def make(world: World) -> list[Kit]:
        def look_up(item: str) -> str:
            """Look something up."""
            world.runs += 1
            ask(item)
            return world.did("look_up", item=item)

        return [Kit(look_up, effect)]

    wanted = [("look_up", {"item": forms[1]})] if forms[1:] else []
    ends = {} if forms[1:] else {"ends": EITHER}
    task(title, "library", part, wanted, ideal, unsaid=NO_FAULT, most=3, **(ends | more))(make)


def by_mode(mode: str) -> str:
    return str(WAYFINDER.route("Oslo", "Bergen", mode))


ONE_OF = "There is no route by 'rail': use one of: bus, ferry."
says("no route, a library's ValueError", by_mode, ("rail", "bus"), ONE_OF)
says("no route, of a tool that says nothing of itself", by_mode, ("rail", "bus"), ONE_OF, None)
says(
    "no stop, a library's own class", WAYFINDER.stop, ("Bregen", "Bergen"), "Did you mean 'Bergen'?"
)
says(
    "no timetable, a library's RuntimeError",
    WAYFINDER.timetable,
    ("1 May",),
    "No timetable is published for 1 May.",
    words=("timetable",),
)
says(
    "a seat that was not confirmed",
    WAYFINDER.book,
    ("12A",),
    "Seat 12A could not be confirmed: the desk is closed. Do not repeat it.",
    None,
    words=("confirmed|closed",),
)
says(
    "no such time zone",
    zoneinfo.ZoneInfo,
    ("Europe/Olso",),
    "No time zone found with key Europe/Olso.",
    words=("time zone",),
)
says(
    "no address",
    ipaddress.ip_address,
    ("10.0.0.300", "10.0.0.30"),
    "'10.0.0.300' is no address.",
)
says(
    "a mean of nothing",
    lambda _item: statistics.mean([]),
    ("sales",),
    "A mean requires at least one data point.",
    words=("data point",),
)
says(
    "a column that is not there",
    lambda item: sqlite3.connect(":memory:").execute(f"select {item} from (select 1 as name)"),
    ("nmae", "name"),
    "item: no such column 'nmae'.",
)
says(
    "an address without its protocol",
    lambda item: item.startswith("https://") or httpx.get(item),
    ("example.com/a", "https://example.com/a"),
    "example.com/a has no protocol: write item as https://example.com/a, for example.",
)


@task(
    "a payment method that is not there",
    "library",
    Part("Buy a lamp.", (Call("buy", {"item": "lamp"}),), {"item": ("lamp",)}),
    [],
    "The payment method was not found.",
    ends=EITHER,
    words=("payment method",),
    unsaid=NO_FAULT,
    most=1,
)
def payment_method(world: World) -> list[Kit]:
    def buy(item: str) -> str:
        """Buy an item."""
        world.runs += 1
        raise RuntimeError("payment method not found")

    return [Kit(buy)]


@task(
    "a library that a tool hands nonsense",
    "library",
    Part("How long is road 7?", (Call("road", {"number": 7}),), {"number": (7,)}),
    [],
    "The tool itself has a fault (TypeError); no argument is to blame.",
    ends=("told",),
    words=("fault|bug|internal|itself|TypeError|unsupported|NoneType",),
    most=2,
)
def nonsense(world: World) -> list[Kit]:
    def road(number: int) -> Any:
        """The length of a road."""
        world.runs += 1
        return WAYFINDER.length([{"length": None}])

    return [Kit(road, "read_only")]


# What stands in a service's body


def body(
    title: str,
    item: tuple[str, Any],
    status: int,
    said: Any,
    ideal: str,
    effect: str | None = "read_only",
    **more: Any,
) -> None:
    """Enters a request that a service refuses; what helps stands in the body alone."""
    first, right = item
    part = Part(f"Order {first}.", (Call("order", {"item": first}),), {"item": (first, right)})
    answer = more.pop("answer", lambda: answered(status, said).raise_for_status())

    def make(world: World) -> list[Kit]:
        def order(item: str) -> str:
            """Order an item."""
            world.runs += 1
            if item != right:
                answer()
            return world.did("order", item=item)

        return [Kit(order, effect)]

    wanted = [("order", {"item": right})]
    task(title, "body", part, wanted, ideal, most=3, **more)(make)


TEA = ("green", "tea-green")
OFFER = "item: use one of 'tea-green', 'coffee-black'."
LIST = ["tea-green", "coffee-black"]
body("valid values", TEA, 400, {"error": "invalid item", "valid_values": LIST}, OFFER)
body("a name that was meant", TEA, 404, {"message": "no 'green'", "did_you_mean": LIST[:1]}, OFFER)
body(
    "a hint",
    TEA,
    422,
    {"title": "Unprocessable", "hint": "use one of 'tea-green', 'coffee-black'"},
    OFFER,
    None,
)
body(
    "a suggestion",
    TEA,
    400,
    {"code": "E12", "message": "invalid", "suggestion": "Did you mean 'tea-green'?"},
    OFFER,
)
body(
    "details of an error",
    TEA,
    400,
    {"error": {"message": "Bad request", "details": [{"field": "item", "allowed": LIST}]}},
    OFFER,
)
body(
    "a form, by an example",
    ("7", "K-7"),
    400,
    {"message": "Validation failed", "errors": {"item": ["write it as K-1234, for example K-12"]}},
    "item: for example K-12.",
)
body(
    "a text that is no JSON",
    TEA,
    400,
    None,
    OFFER,
    answer=lambda: httpx.Response(
        400,
        text="item must be one of tea-green, coffee-black",
        request=httpx.Request("GET", "https://api.example.com/v1/items"),
    ).raise_for_status(),
)
body(
    "a key beside what helps",
    TEA,
    403,
    {"message": "key sk-proj-abcdefghijklmnopqrstuvwx", "details": {"allowed items": LIST}},
    OFFER,
    unsaid=("sk-proj-abcdefghijklmnopqrstuvwx",),
)


def by_requests() -> None:
    made = requests.Response()
    made.status_code, made.url = 400, "https://api.example.com/v1/items"
    made._content = json.dumps({"error": "invalid", "valid_values": LIST}).encode()
    made.raise_for_status()


def by_urllib() -> None:
    said = io.BytesIO(json.dumps({"error": "invalid", "valid_values": LIST}).encode())
    raise urllib.error.HTTPError("https://api.example.com", 400, "Bad Request", Message(), said)


body("valid values, by requests", TEA, 400, None, OFFER, answer=by_requests)
body("valid values, by urllib", TEA, 400, None, OFFER, answer=by_urllib)


@task(
    "a wait in a body",
    "body",
    Part("Order tea.", (Call("order", {"item": "tea"}),), {"item": ("tea",)}),
    [("order", {"item": "tea"})],
    "Too many requests. Try again in 2 seconds.",
    most=8,
    unsaid=NO_FAULT,
)
def wait_in_body(world: World) -> list[Kit]:
    def order(item: str) -> str:
        """Look at what an order would cost."""
        world.runs += 1
        world.state.setdefault("free", world.now() + 2)
        if world.now() < world.state["free"]:
            body = {"message": "slow down", "hint": f"retry in 2 seconds ({world.runs})"}
            answered(429, body).raise_for_status()
        return world.did("order", item=item)

    return [Kit(order, "read_only")]


@task(
    "another tool, named in a body",
    "body",
    Part(
        "Publish the page.",
        (Call("publish_page", {"number": 4}),),
        {"number": (4,)},
        ("approve_page",),
    ),
    [("approve_page", {"number": 4}), ("publish_page", {"number": 4})],
    "Call approve_page first.",
    unsaid=NO_FAULT,
)
def another_tool(world: World) -> list[Kit]:
    def approve_page(number: int) -> str:
        """Approve a page."""
        world.runs += 1
        world.state["approved"] = True
        return world.did("approve_page", number=number)

    def publish_page(number: int) -> str:
        """Publish a page."""
        world.runs += 1
        if "approved" not in world.state:
            body = {"error": "forbidden", "details": {"next": "call approve_page first"}}
            answered(403, body).raise_for_status()
        return world.did("publish_page", number=number)

    return [Kit(approve_page, "mutating"), Kit(publish_page, "mutating")]
