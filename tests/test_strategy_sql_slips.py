"""Slips put into correct statements: what is mended answers as the correct one does, or is left.

The schema is unkind on purpose: it is full of names that are one slip from each other.
"""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from selfcorrect import ToolSpec
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import assemble
from selfcorrect.loop.walk import walk
from selfcorrect.mapping.strategy_map import StrategyMap

STRATEGIES = StrategyMap.load(Path(__file__).parents[1] / "strategies" / "sql.toml")
TABLES = {
    "users": "id name nick_name email city created_at active",
    "orders": "id user_id total totals status ordered_on",
    "order_items": "order_id product_id quantity price prize amount_eur amount_usd",
    "products": "id name names category price cost",
    "product": "id label",
    "invoices": "id number amount due_date paid_date",
}
NAMES = sorted({*TABLES, *(column for text in TABLES.values() for column in text.split())})
KEYWORDS = ("SELECT", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "JOIN", "UNION", "LIMIT")
FORMS = (
    "SELECT {a}, {b} FROM {t} WHERE {c} IS NOT NULL ORDER BY {a}, {b}",
    "SELECT {a} AS x, count(*) AS n FROM {t} GROUP BY {a} HAVING count({b}) > 0 ORDER BY x",
    "SELECT u.{a}, v.{e} FROM {t} u JOIN {t2} AS v ON u.rowid = v.rowid ORDER BY u.{a}, v.{e}",
    "SELECT {t}.{a} FROM {t} WHERE {t}.{b} <> '{b}' ORDER BY 1",
    "SELECT {a} FROM {t} WHERE rowid IN (SELECT rowid FROM {t2} WHERE {e} <> '') ORDER BY 1",
    "WITH r AS (SELECT {a}, {b} AS y FROM {t}) SELECT y, {a} FROM r ORDER BY 1, 2",
    "SELECT total2 FROM (SELECT {a} AS total2, {b} FROM {t}) ORDER BY total2 LIMIT 4",
    "SELECT max({a}) FROM {t} UNION SELECT min({e}) FROM {t2} ORDER BY 1",
    "SELECT CASE WHEN {a} > '1' THEN {b} ELSE 'none' END AS {c}x FROM {t} ORDER BY 1",
    "SELECT upper({a}) || '-' || lower({b}) FROM {t} /* {a} */ ORDER BY 1 -- {b}",
    "SELECT {b} AS {a}s FROM {t} WHERE {a} IS NOT NULL ORDER BY {a}s",
    "SELECT (SELECT max({e}) FROM {t2}) AS m, {a} FROM {t} ORDER BY 2",
)


@pytest.fixture
def database(tmp_path, monkeypatch):
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        for table, columns in TABLES.items():
            names = columns.split()
            connection.execute(f"CREATE TABLE {table} ({', '.join(names)})")
            rows = [
                [n % 4 if name.endswith("id") else f"{table}-{name}-{n}" for name in names]
                for n in range(6)
            ]
            connection.executemany(
                f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})", rows
            )
        connection.commit()
    monkeypatch.setenv("SQL_DATABASE", str(path))
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        yield connection


def statement(chance):
    tables = [chance.choice(list(TABLES)) for _ in range(2)]
    columns = [chance.choice(TABLES[tables[0]].split()) for _ in range(3)]
    last = chance.choice(TABLES[tables[1]].split())
    names = dict(zip("abc", columns, strict=True)) | {"t": tables[0], "t2": tables[1], "e": last}
    return chance.choice(FORMS).format(**names)


def slip(chance, word):
    at = chance.randrange(len(word))
    letter = chance.choice("abcdefghijklmnopqrstuvwxyz")
    return chance.choice(
        (
            word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :],
            word[:at] + word[at + 1 :],
            word[:at] + word[at] + word[at:],
            word[:at] + letter + word[at + 1 :],
            word.removesuffix("s") if word.endswith("s") else f"{word}s",
            word.replace("_", ""),
            word.title(),
        )
    )


def broken(chance, sql, among):
    """The statement with a slip in one place, or in every place, where a name stands."""
    words = sql.replace(",", " , ").replace("(", " ( ").replace(")", " ) ").replace(".", " . ")
    words = words.split(" ")
    places = [n for n, word in enumerate(words) if word in among]
    place = chance.choice(places)
    written = slip(chance, words[place])
    several = [n for n in places if words[n] == words[place]] if chance.random() < 0.5 else [place]
    return " ".join(written if n in several else word for n, word in enumerate(words))


def campaign(database, seed, number, among):
    def query(sql: str) -> list:
        """Ask."""
        return [list(row) for row in database.execute(sql).fetchall()]

    loop = assemble(
        [ToolSpec.from_function(query, effect="read_only")], Options(strategies=STRATEGIES)
    )
    chance, count = random.Random(seed), Counter()
    for _ in range(number):
        correct = statement(chance)
        wrong = broken(chance, correct, among)
        try:
            query(wrong)
        except sqlite3.Error:
            out = walk(loop, {"call": {"name": "query", "args": {"sql": wrong}}})
        else:
            continue
        count["mended" if "result" in out else "left"] += 1
        if "result" in out:
            assert out["result"] == query(correct), (correct, wrong)
    return count


@pytest.mark.parametrize("among", [NAMES, KEYWORDS], ids=["names", "keywords"])
def test_what_is_mended_answers_as_it_was_meant(database, among):
    count = campaign(database, 1, 150, among)
    assert count["mended"] >= 0.35 * count.total()


@pytest.mark.nightly
@pytest.mark.parametrize("among", [NAMES, KEYWORDS], ids=["names", "keywords"])
@pytest.mark.parametrize("seed", range(2, 6))
def test_what_is_mended_answers_as_it_was_meant_many_times(database, among, seed):
    assert campaign(database, seed, 2_000, among)["mended"]
