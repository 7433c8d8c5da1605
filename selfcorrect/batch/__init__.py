"""Calls mended or run in one go: without a graph, several in a message, one after another."""
