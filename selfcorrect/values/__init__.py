"""Primitives: each reads one written value as what a place wants, and loses nothing."""
