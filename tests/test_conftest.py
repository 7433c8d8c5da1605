"""The suite's own promises: a skip counts where REQUIRE_ALL=1, and the network is out of reach."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

CONFTEST = Path(__file__).with_name("conftest.py").read_text(encoding="utf-8")

SKIPS = {
    "in the test": "import pytest\ndef test_x(): pytest.skip('needs a lake')",
    "by a mark": "import pytest\n@pytest.mark.skip('needs a lake')\ndef test_x(): ...",
    "whole module": "import pytest\npytest.skip('needs a lake', allow_module_level=True)",
    "missing import": "import pytest\npytest.importorskip('lake', reason='needs a lake')",
}


@pytest.fixture
def inner(pytester, monkeypatch):
    pytester.makeconftest(CONFTEST.replace("pytest_plugins", "_plugins"))
    monkeypatch.delenv("REQUIRE_ALL", raising=False)
    return pytester


@pytest.mark.parametrize("body", SKIPS.values(), ids=SKIPS)
def test_a_skip_fails_where_all_tests_are_required(inner, monkeypatch, body):
    inner.makepyfile(body)
    inner.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(skipped=1)
    monkeypatch.setenv("REQUIRE_ALL", "1")
    result = inner.runpytest_inprocess("-p", "no:cacheprovider")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*skipped where REQUIRE_ALL=1*needs a lake*"])


def test_an_expected_failure_stays_one(inner, monkeypatch):
    monkeypatch.setenv("REQUIRE_ALL", "1")
    inner.makepyfile("import pytest\n@pytest.mark.xfail\ndef test_x(): assert 0")
    inner.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(xfailed=1)


@pytest.mark.parametrize("host", ["192.0.2.1", "example.invalid"])
def test_the_network_is_out_of_reach(host):
    with pytest.raises(PermissionError, match="must not reach the network"):
        socket.create_connection((host, 80), timeout=0.1)


def test_this_machine_is_in_reach():
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname(), timeout=5),
    ):
        pass
