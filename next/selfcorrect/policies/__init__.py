"""What a deployment decides about changes, terminal kinds and unknown tools."""
