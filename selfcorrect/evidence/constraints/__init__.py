"""Constraints: what a sentence demands, in JSON Schema words."""
