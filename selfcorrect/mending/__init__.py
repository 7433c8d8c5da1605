"""Arguments that almost fit a schema, and the nearest that do.

`fit` searches; `cost` says what counts as near; each file in `edges` turns a value into candidates
for a place, or refuses; `edge_set` makes of some edges a strategy that a map can name.
"""
