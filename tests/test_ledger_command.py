"""From a line of the ledger to the settled doubt, without Python."""

import json
from datetime import UTC, datetime

import pytest
from kit import Tool, main, table

from selfcorrect import ToolSpec
from selfcorrect.ledger import PostgresLedger, SqliteLedger
from selfcorrect.testing import play


@pytest.fixture(params=["sqlite", "postgres"])
def opened(request, tmp_path):
    """Returns the address of a ledger, and the ledger."""
    if request.param == "sqlite":
        address = str(tmp_path / "ledger.db")
        ledger = SqliteLedger(address)
    else:
        address = request.getfixturevalue("database")
        ledger = PostgresLedger(address)
    yield address, ledger
    ledger.close()


def pay_with(ledger, *errors):
    """Return what makes one call of a payment whose first tries fail so, and the payments."""
    paid, left = [], list(errors)

    def pay(to: str, amount: int) -> dict:
        """Pay."""
        paid.append((to, amount))
        if left:
            raise left.pop(0)
        return {"receipt": f"r{len(paid)}"}

    spec = ToolSpec.from_function(pay, effect="mutating", receipt="receipt")

    def call(to="ann", call_id="1"):
        given = {"call": {"name": "pay", "args": {"to": to, "amount": 5}, "id": call_id}}
        beside = {"task_id": "T", "request": "pay everybody"}
        return play([spec], {**given, **beside}, ledger=ledger)

    return call, paid


def command(capsys, *arguments):
    code = main(["ledger", *arguments])
    said = capsys.readouterr()
    return code, [json.loads(line) for line in said.out.splitlines()], said.err


def test_the_ledger_lists_what_was_done_and_what_is_in_doubt(opened, capsys):
    address, ledger = opened
    call, _ = pay_with(ledger, TimeoutError("no answer"))
    call("ann", "1"), call("bob", "2")
    code, (lost, done), _ = command(capsys, address)
    assert code == 0
    assert (lost["status"], lost["in_doubt"], lost["call_id"]) == ("lost", True, "1")
    assert (done["status"], done["value"], "in_doubt" in done) == ("done", {"receipt": "r2"}, False)
    assert lost["request"] == "pay everybody"
    assert '"to": "ann"' in lost["call"]
    assert abs((datetime.fromisoformat(lost["since"]) - datetime.now(UTC)).total_seconds()) < 600
    assert command(capsys, address, "--doubts")[1] == [lost]


@pytest.mark.parametrize(
    ("word", "paid", "end"),
    [
        ("done", 1, "failure"),
        ("not-done", 2, "result"),
        ("again", 2, "result"),
    ],
)
def test_a_doubt_is_settled(word, paid, end, opened, capsys):
    address, ledger = opened
    call, payments = pay_with(ledger, TimeoutError("no answer"))
    call()
    key = command(capsys, address, "--doubts")[1][0]["key"]
    code, (settled,), _ = command(capsys, address, "--settle", key, word, "--by", "ann")
    assert code == 0
    assert settled["by"].startswith("ann")
    assert command(capsys, address, "--doubts")[1] == []
    out = call()
    assert len(payments) == paid
    assert end in out or word == "done"


WRONG = table("ledger_command.txt", "wrong")


@pytest.mark.parametrize(("arguments", "why"), WRONG)
def test_what_cannot_be_settled_is_explained(arguments, why, opened, capsys):
    address, ledger = opened
    call, _ = pay_with(ledger, TimeoutError("no answer"))
    call("ann", "1"), call("bob", "2")
    lost, done = command(capsys, address)[1]
    words = [{"K": lost["key"], "D": done["key"]}.get(word, word) for word in arguments]
    code, lines, said = command(capsys, address, *words)
    assert (code, lines) == (2, [])
    assert why in said
    assert command(capsys, address)[1] == [lost, done]


ADDRESSES = table("ledger_command.txt", "addresses")


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_error_repeats_a_password(address, capsys):
    code, _, said = command(capsys, address)
    assert code == 2
    assert "S3CRET" not in said


def test_a_value_is_shown_without_secrets_and_bounded(opened, capsys):
    address, ledger = opened
    for number, value in enumerate(({"password": "S3CRET12"}, "x" * 5_000)):
        tool = Tool(value, effect="mutating")
        call = {"name": "t", "args": {"q": number}, "id": str(number)}
        assert "result" in play([tool.spec], {"call": call, "task_id": "t"}, ledger=ledger)
    first, second = command(capsys, address)[1]
    assert first["value"] == {"password": "[secret]"}
    assert len(second["value"]) <= 1_000


def test_a_ledger_that_is_not_there_is_not_made(tmp_path, capsys):
    code, lines, said = command(capsys, str(tmp_path / "no.db"))
    assert (code, lines) == (2, [])
    assert "there is no such ledger" in said
    assert not (tmp_path / "no.db").exists()
