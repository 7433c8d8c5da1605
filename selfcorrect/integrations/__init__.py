"""Where the loop is plugged in: each file imports its host inside functions."""
