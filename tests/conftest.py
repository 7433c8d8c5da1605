"""Holds for every test: nothing leaves this machine, and no skip goes unseen where it counts."""

from __future__ import annotations

import ipaddress
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

collect_ignore = ["typing"]
"""For type checkers alone: a module of them is wrong by design, and never run."""
collect_ignore += ["effects/outage_worker.py", "effects/queue_worker.py", "training", "lean"]
"""Programs that tests start, and those that make the training data."""

pytest_plugins = ["pytester", "postgres", "docs_site"]

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
for name in list(os.environ):
    if name.startswith(("SELFCORRECT_", "LANGSMITH_", "LANGCHAIN_")):
        del os.environ[name]

LEAN = str(Path(__file__).parent / "lean")
"""Found first by each process that a test starts; its one module says what that saves."""
_paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path != LEAN]
os.environ["PYTHONPATH"] = os.pathsep.join([LEAN, *filter(None, _paths)])

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("default"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


QUICK = {
    *("test_atomic", "test_loop", "test_newcomer", "test_outcomes", "test_own_nodes"),
    *("test_must_not_guess", "test_no_wrong_value", "test_redaction", "test_refusals"),
    *("test_results", "test_routing", "test_safety"),
}
"""The files that show the promises at a glance."""


def pytest_collection_modifyitems(items):
    for item in items:
        long = item.get_closest_marker("nightly") or item.get_closest_marker("local_model")
        if item.path.stem in QUICK and long is None:
            item.add_marker("quick")


@pytest.hookimpl(wrapper=True)
def pytest_cmdline_main(config):
    """The whole suite runs in two processes, file by file; what is named on the command line, and
    what prints as it goes (`-s`), in this one. `-n` and `--dist` say otherwise."""
    option = config.option
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    here = option.usepdb or option.collectonly or option.capture == "no"
    here = here or "PYTEST_XDIST_WORKER" in os.environ  # one of the two: it starts no further ones
    # Where pytest-xdist is not installed there is no such option.
    if whole and not here and getattr(option, "numprocesses", 0) is None:
        option.numprocesses = 2
        if option.dist == "no":
            option.dist = "loadfile"
    return (yield)


def _is_local(host: object) -> bool:
    if host in (None, "", "localhost"):
        return True
    try:
        return ipaddress.ip_address(str(host)).is_loopback
    except ValueError:
        return False


def _refuse_network(event: str, args: tuple[object, ...]) -> None:
    if event == "socket.connect":
        address = args[1]
        host = address[0] if isinstance(address, tuple) else None
    elif event == "socket.getaddrinfo":
        host = args[0].decode() if isinstance(args[0], bytes) else args[0]
    else:
        return
    if not _is_local(host):
        raise PermissionError(f"a test must not reach the network: {event} {host!r}")


sys.addaudithook(_refuse_network)


def _skip_is_failure(report):
    if os.environ.get("REQUIRE_ALL") != "1" or not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    report.outcome = "failed"
    report.longrepr = f"skipped where REQUIRE_ALL=1 asks for every test: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    _skip_is_failure(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    _skip_is_failure(report)
    return report
