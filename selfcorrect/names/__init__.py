"""Names of tools and arguments: their letters and words, and which of them mean the same."""
