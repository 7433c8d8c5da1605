"""A real PostgreSQL for tests: a server of its own on 127.0.0.1, a fresh database for each test.

`postgres` is the DSN of an empty database that is dropped afterwards. `postgres_server` is the
server behind it, which a test may stop, start and restart; the next test finds it running again.
Where PostgreSQL or its driver is not installed these tests are skipped, and say so.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

USER = "tester"
_SETTINGS = {
    "fsync": "off",  # nothing in here has to survive a power cut
    "full_page_writes": "off",
    "listen_addresses": "127.0.0.1",
    "max_connections": "40",
    "shared_buffers": "16MB",
    "synchronous_commit": "off",
    "unix_socket_directories": "",
}


class Server:
    """One PostgreSQL server in a temporary directory, on the same port for as long as it lives."""

    def __init__(self, binaries: Path):
        self._binaries = binaries
        self._count = count()
        self.password = secrets.token_hex(8)
        self.root = Path(tempfile.mkdtemp(prefix="selfcorrect-postgres-"))
        self._who = _account()
        if self._who:
            shutil.chown(self.root, self._who["user"], self._who["group"])
        secret = self.root / "password"
        secret.write_text(self.password)
        secret.chmod(0o644)
        options = ["--no-sync", "--encoding=UTF8", "--locale=C", "--auth=scram-sha-256"]
        self._run("initdb", *options, f"--username={USER}", f"--pwfile={secret}")
        secret.unlink()
        self._configure()

    def dsn(self, database: str = "postgres") -> str:
        """Where to find one of its databases."""
        return f"postgresql://{USER}:{self.password}@127.0.0.1:{self.port}/{database}"

    @property
    def running(self) -> bool:
        return (self.root / "data" / "postmaster.pid").exists()

    def start(self) -> None:
        """Starts it and waits until it answers; nothing happens where it runs already."""
        if not self.running:
            self._run("pg_ctl", "-w", "-t", "60", "-l", str(self.root / "log"), "start")

    def stop(self, mode: str = "fast") -> None:
        """Stops it: `fast` ends every session, `immediate` is a crash, `smart` waits for them."""
        if self.running:
            self._run("pg_ctl", "-w", "-t", "60", "-m", mode, "stop")

    def restart(self, mode: str = "fast") -> None:
        """Stops and starts it: every open connection is lost, the data is not."""
        self.stop(mode)
        self.start()

    def create(self) -> str:
        """A new empty database, by its name."""
        name = f"test_{next(self._count)}"
        self._administer(f"CREATE DATABASE {name}")
        return name

    def drop(self, name: str) -> None:
        """Drops a database together with the sessions that still use it."""
        self._administer(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def remove(self) -> None:
        """Stops it for good and deletes its data."""
        self.stop("immediate")
        shutil.rmtree(self.root, ignore_errors=True)

    def _configure(self) -> None:
        self.port = _free_port()
        lines = [f"{key} = '{value}'\n" for key, value in (_SETTINGS | {"port": self.port}).items()]
        with (self.root / "data" / "postgresql.conf").open("a") as file:
            file.writelines(lines)

    def _administer(self, statement: str) -> None:
        import psycopg

        with psycopg.connect(self.dsn(), autocommit=True) as connection:
            connection.execute(statement.encode())

    def _run(self, program: str, *arguments: str) -> None:
        # The server inherits what it is started with: a pipe would be held open for its whole life.
        data = self.root / "data"
        with (self.root / "out").open("wb") as out:
            done = subprocess.run(
                [self._binaries / program, "-D", data, *arguments],
                check=False,
                cwd=self.root,
                env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                timeout=120,
                **self._who,
            )
        if done.returncode:
            said = "".join(
                path.read_text(errors="replace")[-4000:]
                for name in ("out", "log")
                if (path := self.root / name).exists()
            )
            raise RuntimeError(f"{program} ended with {done.returncode}: {said}")


def _account() -> dict[str, Any]:
    """Whom else to run it as: PostgreSQL refuses to run as root."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return {}
    import pwd

    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = known.get("postgres") or known["nobody"]
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _free_port() -> int:
    """A port below those that outgoing connections take while the server is stopped."""
    for _ in range(100):
        port = 20_000 + secrets.randbelow(10_000)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port
    raise RuntimeError("no port is free")


def binaries() -> Path | None:
    """Where the programs of a PostgreSQL server are: on the path, or where Debian puts them."""
    found = shutil.which("pg_ctl")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(
        Path("/usr/lib/postgresql").glob("*/bin"),
        key=lambda place: int(place.parent.name) if place.parent.name.isdigit() else 0,
        reverse=True,
    )
    whole = (p for p in places if all((p / name).exists() for name in ("initdb", "pg_ctl")))
    return next(whole, None)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """The server; a test that uses it without `postgres` calls `start` first."""
    pytest.importorskip("psycopg", reason="the driver of PostgreSQL is not installed")
    place = binaries()
    if place is None:
        pytest.skip("no PostgreSQL server is installed")
    server = Server(place)
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture
def postgres(postgres_server: Server) -> Iterator[str]:
    """The DSN of a fresh database."""
    postgres_server.start()
    name = postgres_server.create()
    yield postgres_server.dsn(name)
    postgres_server.start()
    postgres_server.drop(name)
