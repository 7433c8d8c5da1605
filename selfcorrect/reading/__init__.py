"""Reads a text into calls."""
