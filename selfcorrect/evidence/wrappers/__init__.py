"""Wrappers: what tools, hosts and languages put around the sentence of an error."""
