"""The loop: its nodes, what carries a call from one to the next, and what bounds a run."""
