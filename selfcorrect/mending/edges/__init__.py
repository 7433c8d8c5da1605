"""One file for each typed edge: a value, and what it could become at a place."""
