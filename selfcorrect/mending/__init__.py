"""Arguments that almost fit a schema, and the nearest that do.

`choice` and `place` search; `cost` says what counts as near; each file in `edges` turns a value
into candidates for a place, or refuses; `edge_set` makes of some edges a strategy of maps.
"""
