"""Questions to a person, and what the answers decide."""
