"""Kinds: which kind of failure codes, statuses and exception types speak for."""
