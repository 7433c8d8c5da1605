"""One form in each Python library that checks forms, broken in the same ways: `… OUT.jsonl`.

What a library does not check is not broken for it: an attempt that passes is no message.
"""

from __future__ import annotations

import copy
import dataclasses as D
import datetime
import json
import sys
import typing as T
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

from rows import Rows

FORM = json.loads((Path(__file__).parent / "breaks" / "form.json").read_text("utf-8"))
MAKERS: dict[str, Callable[[], Callable[[dict[str, Any]], Any]]] = {}


def system(name: str) -> Callable[[Any], Any]:
    return lambda make: MAKERS.setdefault(name, make)


class Size(str, Enum):  # noqa: UP042 -- some of these libraries know no StrEnum
    SMALL = "small"
    LARGE = "large"


@D.dataclass
class Place:
    town: str
    code: str


@D.dataclass
class Plain:
    title: str
    amount: int
    size: T.Literal["small", "large"]
    contact: str
    due: datetime.date
    ref: str
    labels: list[str]
    site: str
    place: Place
    paid: bool
    price: float


@system("pydantic-v1")
def _():
    from pydantic.v1 import (
        BaseModel,
        Field,
        HttpUrl,
        StrictInt,
        StrictStr,
        conlist,
        constr,
    )

    class P(BaseModel):
        town: StrictStr
        code: str

    class O(BaseModel, extra="forbid"):
        title: constr(strict=True, min_length=2, max_length=12)
        amount: StrictInt = Field(ge=1, le=50)
        size: Size
        contact: str
        due: datetime.date
        ref: constr(regex="^[A-Z]{2}[0-9]{2}$")
        labels: conlist(StrictStr, min_items=1, max_items=3, unique_items=True)
        site: HttpUrl
        place: P
        paid: bool
        price: float = Field(multiple_of=0.5)

    return lambda a: O(**a)


@system("schematics")
def _():
    from schematics import types as t
    from schematics.models import Model

    class P(Model):
        town = t.StringType(required=True)
        code = t.StringType(required=True)

    class O(Model):
        title = t.StringType(required=True, min_length=2, max_length=12)
        amount = t.IntType(required=True, min_value=1, max_value=50, strict=True)
        size = t.StringType(required=True, choices=["small", "large"])
        contact = t.EmailType(required=True)
        due = t.DateType(required=True)
        ref = t.StringType(required=True, regex="^[A-Z]{2}[0-9]{2}$")
        labels = t.ListType(t.StringType, required=True, min_size=1, max_size=3)
        site = t.URLType(required=True)
        place = t.ModelType(P, required=True)
        paid = t.BooleanType(required=True)
        price = t.FloatType(required=True)

    return lambda a: O(a, strict=True).validate()


@system("valideer")
def _():
    import valideer as v

    with v.parsing(additional_properties=False, required_properties=True):
        s = v.parse(
            {
                "title": v.String(min_length=2, max_length=12),
                "amount": v.Range("integer", 1, 50),
                "size": v.Enum(["small", "large"]),
                "contact": "string",
                "due": "string",
                "ref": v.Pattern("^[A-Z]{2}[0-9]{2}$"),
                "labels": v.HomogeneousSequence("string", min_length=1, max_length=3),
                "site": "string",
                "place": {"town": "string", "code": "string"},
                "paid": "boolean",
                "price": "number",
            }
        )
    return s.validate


@system("pyserde")
def _():
    from serde import from_dict, serde

    @serde
    class P:
        town: str
        code: str

    @serde
    class O:
        title: str
        amount: int
        size: Size
        due: datetime.date
        labels: list[str]
        place: P
        paid: bool

    globals().update(P_=P)
    return lambda a: from_dict(O, a)


@system("adaptix")
def _():
    from adaptix import ExtraForbid, Retort, name_mapping

    r = Retort(recipe=[name_mapping(extra_in=ExtraForbid())])

    def leaves(error, at=()):
        for e in getattr(error, "exceptions", None) or ():
            from adaptix.struct_trail import get_trail

            yield from leaves(e, (*at, *get_trail(e)))
        if not getattr(error, "exceptions", None):
            yield at, error

    def go(a):
        try:
            r.load(a, Plain)
        except Exception as error:
            at, inner = next(leaves(error))
            return f"{'.'.join(map(str, at))}: {inner!r}" if at else repr(inner)

    return go


@system("dataclass-wizard")
def _():
    from dataclass_wizard import JSONWizard

    @D.dataclass
    class O(JSONWizard):
        class _(JSONWizard.Meta):
            raise_on_unknown_json_key = True

        title: str
        amount: int
        size: T.Literal["small", "large"]
        due: datetime.date
        labels: list[str]
        place: Place
        paid: bool
        price: float
        contact: str = ""
        ref: str = ""
        site: str = ""

    return lambda a: O.from_dict(a)


@system("apischema")
def _():
    import apischema
    from apischema import schema as s

    A = T.Annotated

    @D.dataclass
    class O:
        title: A[str, s(min_len=2, max_len=12)]
        amount: A[int, s(min=1, max=50)]
        size: T.Literal["small", "large"]
        contact: A[str, s(pattern="@")]
        due: datetime.date
        ref: A[str, s(pattern="^[A-Z]{2}[0-9]{2}$")]
        labels: A[list[str], s(min_items=1, max_items=3, unique=True)]
        site: str
        place: Place
        paid: bool
        price: A[float, s(mult_of=0.5)]

    globals()["O_"] = O
    O.__annotations__ = T.get_type_hints(O, globals() | locals(), include_extras=True)

    def go(a):
        try:
            apischema.deserialize(O, a)
        except apischema.ValidationError as error:
            return json.dumps(error.errors)

    return go


@system("jsons")
def _():
    import jsons

    return lambda a: jsons.load(a, Plain, strict=True)


@system("deserialize")
def _():
    import deserialize

    @D.dataclass
    class O:
        title: str
        amount: int
        size: Size
        labels: list[str]
        place: Place
        paid: bool
        price: float
        contact: str
        ref: str
        site: str
        due: str

    O.__annotations__ = T.get_type_hints(O, globals())
    return lambda a: deserialize.deserialize(O, a, throw_on_unhandled=True)


@system("python-jsonschema-objects")
def _():
    import python_jsonschema_objects as p

    s = copy.deepcopy(FORM["schema"]) | {"title": "Order"}
    o = p.ObjectBuilder(s).build_classes().Order
    return lambda a: o(**a).validate()


@system("good")
def _():
    import good as g

    s = g.Schema(
        {
            "title": g.All(str, g.Length(2, 12)),
            "amount": g.All(int, g.Range(1, 50)),
            "size": g.In({"small", "large"}),
            "contact": g.Email(),
            "due": g.Date("%Y-%m-%d"),
            "ref": g.Match("^[A-Z]{2}[0-9]{2}$"),
            "labels": g.All([str], g.Length(1, 3)),
            "site": g.Url(),
            "place": {"town": str, "code": str},
            "paid": bool,
            "price": float,
        }
    )
    return s


@system("pyfields")
def _():
    from pyfields import autofields, field, init_fields  # noqa: F401

    @autofields(typecheck=True)
    class O:
        title: str
        amount: int
        labels: list
        place: dict
        paid: bool
        price: float

    return lambda a: O(
        **{k: v for k, v in a.items() if k not in ("size", "contact", "due", "ref", "site")}
    )


@system("odmantic")
def _():
    from odmantic import EmbeddedModel, Field, Model

    class P(EmbeddedModel):
        town: str
        code: str

    class O(Model):
        title: str = Field(min_length=2, max_length=12)
        amount: int = Field(ge=1, le=50)
        size: Size
        due: datetime.datetime
        labels: list[str]
        place: P
        paid: bool

    return lambda a: O.model_validate(
        {k: v for k, v in a.items() if k not in ("contact", "ref", "site", "price")}
    )


@system("flask-restful")
def _():
    from flask import Flask
    from flask_restful import Api, Resource, inputs, reqparse

    app = Flask("a")
    p = reqparse.RequestParser()
    for name, kind, more in (
        ("title", str, {}),
        ("amount", inputs.int_range(1, 50), {}),
        ("size", str, {"choices": ("small", "large")}),
        ("due", inputs.date, {}),
        ("site", inputs.url, {}),
        ("paid", inputs.boolean, {}),
        ("ref", inputs.regex("^[A-Z]{2}[0-9]{2}$"), {}),
        ("price", float, {}),
    ):
        p.add_argument(name, type=kind, required=True, location="json", **more)

    class R(Resource):
        def post(self):
            p.parse_args(strict=False)
            return {}

    Api(app).add_resource(R, "/")
    c = app.test_client()

    def go(a):
        r = c.post("/", json=a)
        return None if r.status_code == 200 else (r.status_code, r.get_data(as_text=True))

    return go


@system("django-ninja")
def _():
    import django
    from django.conf import settings

    settings.configure(
        SECRET_KEY="x", ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], DEBUG=False, INSTALLED_APPS=[]
    )
    django.setup()
    from ninja import NinjaAPI, Schema
    from ninja.testing import TestClient
    from pydantic import Field

    class P(Schema):
        town: str
        code: str

    class O(Schema):
        title: str = Field(min_length=2, max_length=12)
        amount: int = Field(ge=1, le=50)
        size: Size
        due: datetime.date
        ref: str = Field(pattern="^[A-Z]{2}[0-9]{2}$")
        labels: list[str] = Field(min_length=1, max_length=3)
        place: P
        paid: bool
        price: float = Field(multiple_of=0.5)

    api = NinjaAPI()

    @api.post("/o")
    def o(request, body: O):
        return {}

    O.model_rebuild(_types_namespace={"P": P, "Size": Size, "datetime": datetime})
    o.__annotations__ = {"body": O}
    api = NinjaAPI(urls_namespace="b")
    api.post("/o")(o)
    c = TestClient(api)

    def go(a):
        r = c.post("/o", json=a)
        return None if r.status_code == 200 else (r.status_code, r.content.decode())

    return go


@system("strawberry")
def _():
    import strawberry

    @strawberry.type
    class Query:
        x: int = 1

        @strawberry.field
        def order(
            self,
            title: str,
            amount: int,
            size: str,
            labels: list[str],
            due: datetime.date,
            paid: bool,
            price: float,
        ) -> int:
            return 1

    s = strawberry.Schema(Query)
    q = "query($title:String!,$amount:Int!,$size:String!,$labels:[String!]!,$due:Date!,$paid:Boolean!,$price:Float!){order(title:$title,amount:$amount,size:$size,labels:$labels,due:$due,paid:$paid,price:$price)}"

    def go(a):
        r = s.execute_sync(q, variable_values=a)
        return (200, json.dumps({"errors": [e.formatted for e in r.errors]})) if r.errors else None

    return go


@system("ariadne")
def _():
    import ariadne

    s = ariadne.make_executable_schema(
        "enum S{small large} input P{town:String! code:String!} type Query{order(title:String!,amount:Int!,size:S!,labels:[String!]!,place:P!,paid:Boolean!,price:Float!):Int}"
    )
    q = "query($title:String!,$amount:Int!,$size:S!,$labels:[String!]!,$place:P!,$paid:Boolean!,$price:Float!){order(title:$title,amount:$amount,size:$size,labels:$labels,place:$place,paid:$paid,price:$price)}"

    def go(a):
        ok, r = ariadne.graphql_sync(s, {"query": q, "variables": a})
        return (400 if not ok else 200, json.dumps(r)) if r.get("errors") else None

    return go


@system("graphene")
def _():
    import graphene as g

    class P(g.InputObjectType):
        town = g.String(required=True)
        code = g.String(required=True)

    class S(g.Enum):
        small = 1
        large = 2

    class Q(g.ObjectType):
        order = g.Int(
            title=g.String(required=True),
            amount=g.Int(required=True),
            size=S(required=True),
            due=g.Date(required=True),
            labels=g.List(g.NonNull(g.String), required=True),
            place=P(required=True),
            paid=g.Boolean(required=True),
            price=g.Decimal(required=True),
        )

        def resolve_order(self, info, **a):
            return 1

    s = g.Schema(Q)
    q = "query($title:String!,$amount:Int!,$size:S!,$due:Date!,$labels:[String!]!,$place:P!,$paid:Boolean!,$price:Decimal!){order(title:$title,amount:$amount,size:$size,due:$due,labels:$labels,place:$place,paid:$paid,price:$price)}"

    def go(a):
        r = s.execute(q, variables=a)
        return (200, json.dumps({"errors": [e.formatted for e in r.errors]})) if r.errors else None

    return go


@system("connexion")
def _():
    import connexion

    spec = {
        "openapi": "3.0.0",
        "info": {"title": "a", "version": "1"},
        "paths": {
            "/o": {
                "post": {
                    "operationId": "python_validators.nothing",
                    "requestBody": {
                        "required": True,
                        "content": {"application/json": {"schema": FORM["schema"]}},
                    },
                    "responses": {"200": {"description": "x"}},
                }
            }
        },
    }
    app = connexion.FlaskApp(__name__)
    app.add_api(spec)
    c = app.test_client()

    def go(a):
        r = c.post("/o", json=a)
        return None if r.status_code == 200 else (r.status_code, r.text)

    return go


def nothing(body):
    return {}


@system("pykwalify")
def _():
    import logging

    logging.disable(logging.CRITICAL)
    from pykwalify.core import Core

    s = {
        "type": "map",
        "mapping": {
            "title": {"type": "str", "required": True, "range": {"min": 2, "max": 12}},
            "amount": {"type": "int", "required": True, "range": {"min": 1, "max": 50}},
            "size": {"type": "str", "required": True, "enum": ["small", "large"]},
            "contact": {"type": "email", "required": True},
            "due": {"type": "date", "required": True, "format": "%Y-%m-%d"},
            "ref": {"type": "str", "required": True, "pattern": "^[A-Z]{2}[0-9]{2}$"},
            "labels": {
                "type": "seq",
                "required": True,
                "range": {"min": 1, "max": 3},
                "sequence": [{"type": "str", "unique": True}],
            },
            "site": {"type": "url", "required": True},
            "place": {
                "type": "map",
                "required": True,
                "mapping": {
                    "town": {"type": "str", "required": True},
                    "code": {"type": "str", "required": True},
                },
            },
            "paid": {"type": "bool", "required": True},
            "price": {"type": "float", "required": True},
        },
    }
    return lambda a: Core(source_data=a, schema_data=s).validate()


@system("confuse")
def _():
    import confuse as c

    t = {
        "title": str,
        "amount": int,
        "size": c.OneOf(["small", "large"]),
        "labels": c.StrSeq(),
        "place": {"town": str, "code": str},
        "paid": bool,
        "price": float,
    }

    def go(a):
        conf = c.RootView([c.ConfigSource.of(a)])
        conf.get(t)

    return go


def main(out: str) -> None:
    rows = Rows(out)
    for name, make in MAKERS.items():
        try:
            check = make()
            checked = check(copy.deepcopy(FORM["valid"]))
            if isinstance(checked, (str, tuple)):
                raise ValueError(f"the valid form fails: {checked}"[:300])
        except Exception as error:
            rows.left_out(name, "all", f"{type(error).__name__}: {error}"[:300])
            continue
        for label, edit, params in FORM["breaks"]:
            broken = {k: v for k, v in (copy.deepcopy(FORM["valid"]) | edit).items() if v != "$del"}
            exception, status = None, None
            try:
                text = check(copy.deepcopy(broken))
                if (
                    isinstance(text, tuple)
                    and text
                    and isinstance(text[0], int)
                    and isinstance(text[-1], str)
                ):
                    status, text = text
                if not isinstance(text, str):
                    continue
            except Exception as error:
                kind = type(error)
                exception = (
                    kind.__qualname__
                    if kind.__module__ == "builtins"
                    else f"{kind.__module__}.{kind.__qualname__}"
                )
                text = str(error)
            if text.strip():
                rows.add(name, label, text, broken, params, exception=exception, status=status)
    rows.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
