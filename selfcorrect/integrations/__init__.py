"""Homes of what connects the loop to other frameworks; each module loads its own library."""
