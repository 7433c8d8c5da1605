"""Repair strategies of a deployment whose tools run SQL: names of tables and columns.

`sql.toml` brings them along under `[use]`. They know the grammar of names, what the error
says and what the database's catalogue says; nothing in a text, a comment or a quoted name is ever
touched. A statement that may write, or a tool that does more than read, is never mended unasked.
"""

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import ClassVar, Final, TypeAlias

from selfcorrect.model import Call, Change, Changed, Diagnosis, Finding, GiveUp, Repair, Safety
from selfcorrect.pointer import join, look
from selfcorrect.protocols import RepairContext
from selfcorrect.repairs.ask_model import AskModel
from selfcorrect.text import LONGEST, VALUE_SLIP, distance, normal, rivals, typo

Catalogue: TypeAlias = Mapping[str, Collection[str]]
"""The columns of every table that may be read, by its name."""

STATEMENTS: Final = ("sql", "query", "statement")
"""What the argument that holds a statement is called."""

_LONGEST: Final = 20_000
_MOST_NAMES: Final = 5_000
_SECONDS: Final = 2
_PLAIN: Final = re.compile(r"[a-z_][a-z0-9_]*")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BEFORE_A_NAME: Final = _words(
    "all and any between by case cross distinct else exists from group having in inner into is "
    "join left like limit not offset on or order outer returning right select set some then update "
    "using when where"
)
"""Words after which a name is a reference; anywhere else it may be the place where it is made."""

_WRITING: Final = _words(
    "alter attach call comment copy create delete detach do drop execute grant import insert into "
    "load lock merge pragma reindex replace revoke set truncate update upsert vacuum"
)
_KEYWORDS: Final = (
    *("between", "distinct", "except", "from", "group", "having", "inner", "intersect", "join"),
    *("left", "limit", "offset", "order", "outer", "right", "select", "union", "where"),
)
_RESERVED: Final = (
    _BEFORE_A_NAME
    | _WRITING
    | _words(
        "as asc column constraint default desc end except false fetch for foreign full intersect "
        "natural null primary references table to true union unique user values with"
    )
)

_TOKEN: Final = re.compile(
    r"""(?P<space>\s++|--[^\n]*+)
      | (?P<text>[eE]'(?:[^'\\]++|\\.|'')*+'|(?:[bBxXnN])?'(?:[^'\\]++|'')*+')
      | (?P<quoted>"(?:[^"]++|"")*+")
      | (?P<word>[^\W\d][\w$]*+)
      | (?P<number>\d[\w.]*+)
      | (?P<block>/\*|\$(?:[^\W\d]\w*+)?\$)
      | (?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class _Token:
    """A name, a literal or a sign of a statement, and where it stands."""

    kind: str
    text: str
    start: int

    @property
    def name(self) -> str:
        """What the database makes of it, where it is a name."""
        if self.kind == "quoted":
            return self.text[1:-1].replace('""', '"')
        return self.text.casefold()

    @property
    def is_name(self) -> bool:
        return self.kind in ("word", "quoted")

    def is_word(self, words: Collection[str]) -> bool:
        return self.kind == "word" and self.text.casefold() in words


def tokens_of(sql: str) -> list[_Token] | None:
    """The tokens of a statement, or None where it cannot be told for sure what is text in it.

    >>> [token.text for token in tokens_of("SELECT a.b FROM t WHERE c = 'it''s a' -- b")]
    ['SELECT', 'a', '.', 'b', 'FROM', 't', 'WHERE', 'c', '=', "'it''s a'"]
    """
    found: list[_Token] = []
    end = 0
    while end < len(sql):
        match = _TOKEN.match(sql, end)
        if match is None:
            return None
        kind, text = match.lastgroup or "", match[0]
        if kind == "block":
            closing_sign = "*/" if text == "/*" else text
            close = sql.find(closing_sign, match.end())
            if close < 0 or (text == "/*" and sql.find("/*", match.end(), close) >= 0):
                return None
            if text != "/*":
                found.append(_Token("text", "", end))
            end = close + len(closing_sign)
            continue
        if kind == "sign" and text in "'\"`[\\&":
            return None
        if kind != "space":
            found.append(_Token(kind, text, end))
        end = match.end()
    return found


@dataclass(frozen=True, slots=True)
class RenameIdentifier:
    """Puts the name that the database has in the place of a misspelt column, table or alias.

    A name is taken where it is the only one near: the one that the database's own hint proposes,
    or the one that its catalogue holds. Where the old name stands in several queries of one
    statement, it is left alone unless the catalogue says that it is right in none of them. Inferred
    on tools and statements that only read; on all others it is a proposal for a person.

    Attributes:
        what: What the error is about: `column`, `table`, or `alias` for a table that the statement
            calls by another name.
        arguments: What the argument that holds the statement may be called.
        database: The environment variable that names the database, whose catalogue is then read:
            the DSN of a PostgreSQL server or the path of an SQLite file, or SQLAlchemy's URL.
        catalogue: The same in Python: a function that returns the columns of every table.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> unknown = Finding("no such table: usres", captures={"got": "usres"})
    >>> rename = RenameIdentifier(what="table", catalogue=lambda: {"users": ["id"]})
    >>> call = {"sql": "SELECT 'usres' FROM usres"}
    >>> try_strategy(rename, {}, call, unknown, effect="read_only").changes[0].after
    "SELECT 'usres' FROM users"
    """

    name: ClassVar[str] = "rename-identifier"
    safety: ClassVar[tuple[Safety, ...]] = (Safety.INFERRED, Safety.LOSSY)
    needs: ClassVar[str] = "nothing"

    what: str = "column"
    arguments: tuple[str, ...] = STATEMENTS
    database: str = ""
    catalogue: Callable[[], Catalogue] | None = None

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Rename what the first finding speaks of."""
        path, sql = statement_of(call, diagnosis.finding, self.arguments)
        got = [part.strip('"') for part in diagnosis.captures.get("got", "").split(".")]
        if sql is None or not all(got) or len(got) > 3 or len(got[-1]) > LONGEST:
            return GiveUp("there is no statement in which the error names a name")
        tokens = tokens_of(sql) if len(sql) <= _LONGEST else None
        if tokens is None:
            return GiveUp("it cannot be told for sure what is text in the statement")
        places = list(_places(tokens, got, self.what))
        if not places or _may_be_made(tokens, places):
            return GiveUp("the statement does not use that name, or makes it itself")
        proposed = _proposed(diagnosis.finding, got[:-1] if self.what == "column" else ())
        if self.what == "alias":
            new = _alias(tokens, got[-1], proposed)
        else:
            known = self._known()
            if len(places) > 1 and not (_is_one_scope(tokens) or _is_nowhere(got[-1], known)):
                return GiveUp("the name may mean several things in the statement")
            new = _nearest(got[-1], tokens, proposed, known, self.what)
        written = _written(new, tokens, places) if new is not None else None
        if new is None or written is None:
            return GiveUp("no name is meant with a clear margin")
        after = _replaced(sql, tokens, places, written)
        if after == sql:
            return GiveUp("it is written so already")
        safety = Safety.INFERRED if _only_reads(tokens, context) else Safety.LOSSY
        reason = f"the {self.what} that the database has: {new}"
        return Changed(Change(path, sql, after, safety, reason))

    def _known(self) -> Catalogue:
        try:
            if self.catalogue is not None:
                return self.catalogue()
            place = os.environ.get(self.database) if self.database else None
            return _read_catalogue(place) if place else {}
        except Exception:  # a catalogue that cannot be read says nothing
            return {}


@dataclass(frozen=True, slots=True)
class CorrectKeyword:
    """Puts right the one keyword with a slip at which the database stopped reading.

    That is the word that the error names, or the one before it, which was read as a name. Inferred
    where only something is read, else a proposal for a person.

    Attributes:
        arguments: What the argument that holds the statement may be called.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> stopped = Finding('near "users": syntax error', captures={"got": "users"})
    >>> call = {"sql": "SELECT name FORM users"}
    >>> try_strategy(CorrectKeyword(), {}, call, stopped, effect="read_only").changes[0].after
    'SELECT name FROM users'
    """

    name: ClassVar[str] = "correct-keyword"
    safety: ClassVar[tuple[Safety, ...]] = (Safety.INFERRED, Safety.LOSSY)
    needs: ClassVar[str] = "nothing"

    arguments: tuple[str, ...] = STATEMENTS

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Mend the keyword at the place of the first finding."""
        path, sql = statement_of(call, diagnosis.finding, self.arguments)
        tokens = tokens_of(sql) if sql is not None and len(sql) <= _LONGEST else None
        if sql is None or tokens is None:
            return GiveUp("there is no statement that can be read for sure")
        got = diagnosis.captures.get("got", "").casefold()
        near = {p for n, token in enumerate(tokens) if token.name == got for p in (n - 1, n)}
        meant = [(p, key) for p in sorted(near) if p >= 0 for key in _keywords_near(tokens[p])]
        if len(meant) != 1:
            return GiveUp("no keyword is meant with a clear margin")
        ((place, key),) = meant
        word = key.upper() if tokens[place].text.isupper() else key
        mended = [*tokens[:place], replace(tokens[place], text=word), *tokens[place + 1 :]]
        safety = Safety.INFERRED if _only_reads(mended, context) else Safety.LOSSY
        after = _replaced(sql, tokens, [place], word)
        return Changed(Change(path, sql, after, safety, f"the keyword {word}"))


@dataclass(frozen=True, slots=True)
class AskModelToRead:
    """Asks the model for another statement, where tool and statement only read.

    What writes is a person's to change: nobody looks at a statement between the model and the
    database.

    Attributes:
        arguments: What the argument that holds the statement may be called.
    """

    name: ClassVar[str] = "ask-model-to-read"
    safety: ClassVar[tuple[Safety, ...]] = (Safety.MODEL,)
    needs: ClassVar[str] = "model"

    arguments: tuple[str, ...] = STATEMENTS

    async def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Ask about the statement, and for nothing else."""
        if context.tool is None or context.tool.effect != "read_only":
            return GiveUp("no model changes what a tool writes")
        path, sql = statement_of(call, diagnosis.finding, self.arguments)
        if sql is None or path not in diagnosis.finding.paths:
            return GiveUp("the error is not about a statement")
        finding = replace(diagnosis.finding, paths=(path,))
        answer = await AskModel()(call, Diagnosis((finding,)), context)
        if isinstance(answer, Changed):
            for change in answer.changes:
                tokens = tokens_of(change.after) if isinstance(change.after, str) else None
                if tokens is None or not _only_reads(tokens, context):
                    return GiveUp("the model's statement may do more than read")
        return answer


def statement_of(
    call: Call, finding: Finding, arguments: Collection[str]
) -> tuple[str, str | None]:
    """The one statement of a call, by its pointer: the argument at fault, or the only one there."""
    at_fault = [path for path in finding.paths if path.startswith("/args/")]
    named = [join("args", name) for name in arguments if name in call.args]
    places = [path for path in named if not at_fault or path in at_fault]
    value = look(call, places[0]) if len(places) == 1 else None
    return (places[0], value) if isinstance(value, str) else ("", None)


# --- where a name stands --------------------------------------------------------------------------


def _sign(tokens: Sequence[_Token], place: int) -> str:
    return tokens[place].text if 0 <= place < len(tokens) else ""


def _places(tokens: Sequence[_Token], got: Sequence[str], what: str) -> Iterator[int]:
    """Where the name stands in that role, behind the qualifiers that it is known by."""
    for place, token in enumerate(tokens):
        if not token.is_name or got[-1] not in (token.name, token.text):
            continue  # PostgreSQL says what it made of a name, SQLite how it is written
        if _sign(tokens, place - 1) in tuple(":@#$") or _sign(tokens, place - 2) == "%":
            continue  # a parameter, or a type
        before = _qualifiers(tokens, place)
        is_qualifier, calls = _sign(tokens, place + 1) == ".", _sign(tokens, place + 1) == "("
        if what == "column":
            quoted_alone = token.kind == "quoted" and not before  # many write texts that way
            fits = not is_qualifier and not calls and not quoted_alone
        elif what == "alias":
            fits = is_qualifier
        else:
            fits = True
        if fits and before == [part.casefold() for part in got[:-1]]:
            yield place


def _qualifiers(tokens: Sequence[_Token], place: int) -> list[str]:
    found: list[str] = []
    while _sign(tokens, place - 1) == "." and place >= 2 and tokens[place - 2].is_name:
        place -= 2
        found.insert(0, tokens[place].name.casefold())
    return found


def _may_be_made(tokens: Sequence[_Token], places: Sequence[int]) -> bool:
    """Whether the statement may give the name at one of these places, instead of using it."""
    return any(_is_made(tokens, place) for place in places) or (
        len(places) > 1 and any(_opens_columns(tokens, place) for place in range(len(tokens)))
    )


def _is_made(tokens: Sequence[_Token], place: int) -> bool:
    """Whether a name stands where an alias, or a table of WITH, gets its name."""
    first = place - 2 * len(_qualifiers(tokens, place))
    follows = _sign(tokens, place + 1).casefold()
    if first == 0 or (follows == "as" and _sign(tokens, place + 2) == "("):
        return True
    before = tokens[first - 1]
    if before.kind == "sign":
        return before.text == ")" or (before.text == "," and follows == "(")
    return not before.is_word(_BEFORE_A_NAME)


def _opens_columns(tokens: Sequence[_Token], place: int) -> bool:
    """Whether a list of new names may open here: `t(a, b)` behind WITH, AS or a bracket."""
    if place < 2 or tokens[place].text != "(" or not tokens[place - 1].is_name:
        return False
    before = tokens[place - 2]
    if before.text == ",":
        return any(token.is_word(("with",)) for token in tokens)
    return before.text == ")" or before.is_word(("as", "recursive", "with"))


def _is_one_scope(tokens: Sequence[_Token]) -> bool:
    """Whether a name means the same wherever it stands in the statement."""
    return sum(token.is_word(("select",)) for token in tokens) < 2


def _keywords_near(token: _Token) -> list[str]:
    """The keywords that a word is one slip away from, if it is none itself."""
    word = token.text.casefold()
    if token.kind != "word" or len(word) < 3 or word in _RESERVED:
        return []
    return [key for key in _KEYWORDS if word[0] == key[0] and distance(word, key, 1) == 1]


# --- which name is meant --------------------------------------------------------------------------


def _proposed(finding: Finding, behind: Sequence[str]) -> list[str] | None:
    """The names that the error itself proposes; None where they are not those of one table."""
    said = [item for item in finding.suggestions[:20] if isinstance(item, str)]
    parts = [[part.strip('"') for part in item.split(".")] for item in said]
    if behind and any(len(one) > 1 and one[-2] != behind[-1] for one in parts):
        return None
    names = [one[-1] for one in parts]
    return names if len(set(names)) == len(names) else None


def _nearest(
    got: str, tokens: Sequence[_Token], proposed: list[str] | None, known: Catalogue, what: str
) -> str | None:
    """The one name that is near, of those that exist; None where there is none or are several."""
    if proposed is None:
        return None
    used = {token.name for token in tokens if token.is_name and not token.is_word(_RESERVED)}
    tables = {name for name in known if name.casefold() in {item.casefold() for item in used}}
    listed = known if what == "table" else {name for table in tables for name in known[table]}
    names = set(proposed or listed)
    if got in known or len(names) > _MOST_NAMES:
        return None
    equal = [name for name in names if normal(name) == normal(got) and name != got]
    near = equal or [name for name in names if _is_slip(got, name)]
    if len(near) != 1 or not near[0] or len(near[0]) > LONGEST:
        return None
    own = {name for name in used if name.casefold() not in (got.casefold(), near[0].casefold())}
    also = [name for name in own if normal(name) == normal(got) or typo(got, name) is not None]
    if also or (not equal and rivals(got, near[0], names | set(listed))):
        return None
    return near[0]


def _is_slip(got: str, name: str) -> bool:
    """Whether a name was written with a slip; short ones are often other words: `male`, `mole`."""
    swapped = sorted(got.casefold()) == sorted(name.casefold())
    return typo(got, name, VALUE_SLIP) is not None and (swapped or len(name) > 4)


def _is_nowhere(got: str, known: Catalogue) -> bool:
    """Whether the catalogue is known and has no table and no column of this name."""
    columns = (column for table in known.values() for column in table)
    return bool(known) and got.casefold() not in {n.casefold() for n in (*known, *columns)}


def _alias(tokens: Sequence[_Token], table: str, proposed: list[str] | None) -> str | None:
    """What the statement calls a table, if it names it once and the error says the same."""
    places = [
        place
        for place, token in enumerate(tokens)
        if token.is_name and token.name == table.casefold() and _sign(tokens, place + 1) != "."
    ]
    if len(places) != 1 or proposed is None or len(proposed) != 1:
        return None
    after = places[0] + (2 if _sign(tokens, places[0] + 1).casefold() == "as" else 1)
    told = after < len(tokens) and tokens[after].name == proposed[0].casefold()
    return proposed[0] if told else None


# --- writing it -----------------------------------------------------------------------------------


def _written(name: str, tokens: Sequence[_Token], places: Sequence[int]) -> str | None:
    """The name as it is written in a statement, in quotes where it needs them."""
    quoted = any(tokens[place].kind == "quoted" for place in places)
    if _PLAIN.fullmatch(name) and name not in _RESERVED and not quoted:
        return name
    return '"' + name.replace('"', '""') + '"' if name.isprintable() else None


def _replaced(sql: str, tokens: Sequence[_Token], places: Sequence[int], name: str) -> str:
    parts, end = [], 0
    for token in (tokens[place] for place in places):
        parts += [sql[end : token.start], name]
        end = token.start + len(token.text)
    return "".join([*parts, sql[end:]])


def _only_reads(tokens: Sequence[_Token], context: RepairContext) -> bool:
    reads = context.tool is not None and context.tool.effect == "read_only"
    return reads and not any(
        token.is_word(_WRITING) and _sign(tokens, place - 1) != "."
        for place, token in enumerate(tokens)
    )


# --- the catalogue --------------------------------------------------------------------------------


def _read_catalogue(place: str) -> Catalogue:
    """The tables that may be read and their columns, from the database's own catalogue."""
    place = re.sub(r"^(postgres(?:ql)?)\+\w+(?=://)", r"\1", place.removeprefix("sqlite:///"))
    rows = _of_postgres(place) if "://" in place or "dbname=" in place else _of_sqlite(place)
    found: dict[str, list[str]] = {}
    for table, column in rows:
        found.setdefault(table, []).append(column)
    return found


def _of_postgres(dsn: str) -> list[tuple[str, str]]:
    import psycopg

    options = f"-c default_transaction_read_only=on -c statement_timeout={_SECONDS * 1000}"
    query = """
        SELECT c.relname, a.attname FROM pg_catalog.pg_class c
        JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT attisdropped
        WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND pg_catalog.pg_table_is_visible(c.oid)
        AND c.relnamespace <> 'pg_catalog'::regnamespace
        AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT') LIMIT 50000"""
    with psycopg.connect(dsn, connect_timeout=_SECONDS, options=options) as connection:
        return [(str(table), str(column)) for table, column in connection.execute(query)]


def _of_sqlite(path: str) -> list[tuple[str, str]]:
    import sqlite3
    from pathlib import Path

    query = """SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c
               WHERE m.type IN ('table', 'view') LIMIT 50000"""
    address = f"{Path(path).absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True, timeout=_SECONDS)) as connection:
        return connection.execute(query).fetchall()
