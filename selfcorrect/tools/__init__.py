"""Tools as the runtime sees them, and how they are run."""
