"""Fixtures that several files use."""

from postgres import database, server

__all__ = ["database", "server"]
