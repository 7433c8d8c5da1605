"""LangChain agents and tool nodes, whose calls walk the correction loop.

`middleware` holds `SelfCorrection`, and `tool_node` the node for graphs that are built by hand.
Both ask the same functions: `thread.open_calls`, `ending.may_end`, `stream.read_pieces`.
"""
