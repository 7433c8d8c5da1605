"""Faults: which parameter is at fault, and what is wrong with it."""
