"""The eight nodes of the graph, one in each file."""
