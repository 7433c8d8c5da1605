"""Fixtures that several files use, and how many workers share the tests."""

import os

import pytest
from postgres import database, ledger, server

__all__ = ["database", "ledger", "server"]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Take one worker more than there are cores: tests wait for servers and browsers, too."""
    return (os.cpu_count() or 1) + 1
