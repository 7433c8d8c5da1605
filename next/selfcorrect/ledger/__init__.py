"""Ledgers remember calls of tools that act: the intent before the effect, the outcome after it."""
