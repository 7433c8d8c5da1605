"""A PostgreSQL server of the tests' own, in a temporary folder, with a database for each test."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from itertools import count
from pathlib import Path

import pytest

from selfcorrect.ledger import MemoryLedger, PostgresLedger, SqliteLedger

SETTINGS = {
    "fsync": "off",
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "shared_buffers": "16MB",
}


def find_programs():
    """Return the folder of the server's programs: on the path, or where Debian puts them."""
    found = shutil.which("pg_ctl")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((each for each in places if (each / "initdb").exists()), None)


class Server:
    """Starts, stops and restarts one server; it keeps its port and its data."""

    def __init__(self, programs):
        self._programs, self._names = programs, count()
        self.root = Path(tempfile.mkdtemp(prefix="postgres-"))
        self._account = {}
        if os.geteuid() == 0:
            # PostgreSQL refuses to run as root.
            names = {each.pw_name: each for each in pwd.getpwall()}
            user = names.get("postgres") or names["nobody"]
            os.chown(self.root, user.pw_uid, user.pw_gid)
            self._account = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        self._run("initdb", "--no-sync", "--auth=trust", "--username=tester", "--encoding=UTF8")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self._address = f"postgresql://tester@127.0.0.1:{port}"
        with (self.root / "data" / "postgresql.conf").open("a") as file:
            file.writelines(
                f"{key} = '{value}'\n" for key, value in (SETTINGS | {"port": port}).items()
            )
        self.start()

    def start(self):
        if not (self.root / "data" / "postmaster.pid").exists():
            self._run("pg_ctl", "-w", "-l", str(self.root / "log"), "start")

    def stop(self, mode="fast"):
        if (self.root / "data" / "postmaster.pid").exists():
            self._run("pg_ctl", "-w", "-m", mode, "stop")

    def restart(self):
        """Crash and start: every connection is lost, what was committed is not."""
        self.stop("immediate")
        self.start()

    def create(self):
        """Return the address of a new database."""
        import psycopg

        self.start()
        name = f"test_{next(self._names)}"
        with psycopg.connect(f"{self._address}/postgres", autocommit=True) as database:
            database.execute(f"create database {name}")
        return f"{self._address}/{name}"

    def remove(self):
        self.stop("immediate")
        shutil.rmtree(self.root, ignore_errors=True)

    def _run(self, program, *options):
        # The server inherits its output: a pipe would be held open as long as it lives.
        with (self.root / "out").open("wb") as out:
            done = subprocess.run(
                [self._programs / program, "-D", self.root / "data", *options],
                check=False,
                cwd=self.root,
                env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                **self._account,
            )
        assert done.returncode == 0, (self.root / "out").read_text(errors="replace")


@pytest.fixture(scope="session")
def server():
    pytest.importorskip("psycopg")
    programs = find_programs()
    if programs is None:
        pytest.skip("a real server is tested: install postgresql")
    server = Server(programs)
    yield server
    server.remove()


@pytest.fixture
def database(server):
    return server.create()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def ledger(request, tmp_path):
    """Return a ledger of each kind."""
    if request.param == "memory":
        made = MemoryLedger()
    elif request.param == "sqlite":
        made = SqliteLedger(tmp_path / "ledger.db")
    else:
        made = PostgresLedger(request.getfixturevalue("database"))
    yield made
    getattr(made, "close", int)()
