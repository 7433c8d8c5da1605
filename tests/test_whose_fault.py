"""Whose fault a failure is: the model reads of arguments only where the error points at them."""

import re

import pytest
from kit import sections
from langchain_core.tools import StructuredTool
from pydantic import BaseModel, Field, field_validator

from selfcorrect import ToolSpec
from selfcorrect.testing import VirtualTime, play

ROWS = [
    [cell.strip() for cell in row.split("|")]
    for rows in sections("failures.txt").values()
    for row in rows
]
ARGS = {"customer": "ann", "amount": 4, "file": "notes.txt", "note": "{not json"}
LIBRARIES = (
    "asyncio, datetime, decimal, fractions, importlib.metadata, ipaddress, json, os, shutil,"
    " socket, sqlite3, statistics, string, subprocess, tomllib, urllib.request, uuid, zipfile,"
    " xml.etree.ElementTree, zoneinfo, httpx, jsonschema, openai, requests, sqlalchemy, yaml"
)
ENDS = {
    "tool": "Tell the user that the tool is broken.",
    "call": "Call again as the tool's words ask, or ask the user.",
    "service": "Call again later, or go on without it.",
    "access": "If the tool's words name no remedy, tell the user.",
}
LOST = "Find out whether it was done before you repeat it."
EFFECTS = [None, "read_only", "mutating"]


class Order(BaseModel):
    amount: int = Field(le=3)


class Status(Exception):
    def __init__(self, status, text):
        super().__init__(text)
        self.status_code = status


class Refused(Exception):
    """A class of the tool's own package."""


def failure_of(statement, effect):
    """Return the report of a tool whose code is one statement."""
    source = f"def book(customer: str, amount: int, file: str, note: str):\n    {statement}"
    own = {"__name__": "shop", "Order": Order, "Status": Status, "Refused": Refused}
    exec(f"import {LIBRARIES}\n{source}", own)
    tool = ToolSpec.from_function(own["book"], effect=effect)
    return play([tool], {"call": {"name": "book", "args": ARGS}}, time=VirtualTime())["failure"]


@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize(("statement", "party", "names", "says"), ROWS)
def test_whose_fault(statement, party, names, says, effect):
    failure = failure_of(statement, effect)
    text = failure["for_model"]
    before = text.partition("The tool's words")[0]
    assert {*re.findall(r"`(\w+)`", before)} == {*names.split()}
    assert says.casefold() in text.casefold().replace('\\"', '"')
    is_lost = failure["attempts"][-1]["outcome"] == "lost" and effect != "read_only"
    assert text.endswith(LOST if is_lost else ENDS[party])
    assert ("arguments are not at fault" in text) == (party == "tool")
    assert ("nobody knows" in text.casefold()) == is_lost
    assert len(text.split()) <= 120


class Payment(BaseModel):
    """What an author of a tool for LangChain checks beside the schema."""

    iban: str
    amount: int

    @field_validator("iban")
    @classmethod
    def is_own(cls, value: str) -> str:
        if not value.startswith("DE"):
            raise ValueError("an IBAN of this bank begins with DE")
        return value

    @field_validator("amount")
    @classmethod
    def is_even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("amounts are even")
        return value


def test_validators_of_arguments_ran_before_the_tool():
    def pay(iban: str, amount: int) -> str:
        """Pay."""
        raise AssertionError

    tool = StructuredTool.from_function(pay, args_schema=Payment, metadata={"effect": "mutating"})
    call = {"name": "pay", "args": {"iban": "FR1", "amount": 7}}
    failure = play([tool], {"call": call}, time=VirtualTime())["failure"]
    assert [each["outcome"] for each in failure["attempts"]] == ["not_done"]
    text = failure["for_model"]
    assert text.startswith("The tool refused the call (`iban`, `amount`).")
    assert "an IBAN of this bank begins with DE; it is 'FR1'" in text
    assert "amounts are even; it is 7" in text
