"""An operator's afternoon: from one line on stderr to the settled doubt, and the run goes on."""

import json
import re
import sqlite3
import subprocess
import sys

import pytest
from kit import main

PROGRAM = """
import json, sqlite3, sys
from langgraph.checkpoint.sqlite import SqliteSaver
from selfcorrect import ToolSpec, build_graph
from selfcorrect.ledger import SqliteLedger

bank = sqlite3.connect("bank.db")
bank.execute("create table if not exists payments (key, payee, amount)")

def pay(payee: str, amount: int, idempotency_key: str) -> str:
    "Pay."
    if sys.argv[1] == "booked":
        bank.execute("insert into payments values (?, ?, ?)", (idempotency_key, payee, amount))
        bank.commit()
    if sys.argv[1] != "well":
        raise TimeoutError("the bank did not answer")
    bank.execute("insert into payments values (?, ?, ?)", (idempotency_key, payee, amount))
    bank.commit()
    return "paid"

with SqliteSaver.from_conn_string("threads.db") as saver:
    tool = ToolSpec.from_function(pay, effect="mutating")
    graph = build_graph([tool], ledger=SqliteLedger("ledger.db"), checkpointer=saver)
    call = {"name": "pay", "args": {"payee": "ann", "amount": 5}, "id": "call-1"}
    config = {"configurable": {"thread_id": "order-7"}}
    out = graph.invoke({"call": call}, config)
print(json.dumps(out.get("failure", {}).get("reason", out.get("result"))))
"""


@pytest.mark.parametrize("was_booked", [True, False])
def test_from_a_line_to_the_settled_doubt(was_booked, tmp_path, monkeypatch, capsys):
    def run(bank):
        command = [sys.executable, "-c", PROGRAM, bank]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        return json.loads(done.stdout.splitlines()[-1]), done.stderr

    monkeypatch.chdir(tmp_path)
    reason, line = run("booked" if was_booked else "lost")
    assert reason == "unknown_outcome"

    # All that the operator has is the line.
    assert all(each in line for each in ("order-7", "call-1", "TimeoutError"))
    key = re.search(r"record=['\"]?([0-9a-f]{32})", line)[1]
    assert main(["ledger", "ledger.db", "--doubts"]) == 0
    (doubt,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert doubt["key"] == key

    # The bank knows the payment by the key that went with it.
    bank = sqlite3.connect("bank.db")
    booked = bank.execute("select count(*) from payments where key = ?", (key,)).fetchone()[0]
    assert booked == was_booked
    outcome = "done" if booked else "not-done"
    assert main(["ledger", "ledger.db", "--settle", key, outcome, "--by", "ann"]) == 0
    (settled,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (settled["key"], settled["by"]) == (key, "ann")

    # The same call on the same thread: what was done is not done again, what was not is done now.
    answer, _ = run("well")
    assert answer == (None if booked else "paid")
    assert bank.execute("select count(*) from payments").fetchone()[0] == 1
    bank.close()
