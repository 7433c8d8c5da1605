"""Reads an error into findings."""
