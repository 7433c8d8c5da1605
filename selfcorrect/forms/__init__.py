"""Calls in the values of providers and frameworks: where they stand, and written back there."""
