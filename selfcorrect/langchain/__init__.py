"""LangChain agents and tool nodes, whose calls walk the correction loop.

A turn of the model goes through `middleware`, `model_turn`, `model_call` and `stream`; a call in
its text through `text_calls`. A tool call goes through `middleware` or `tool_node`, `tool_call`,
`host` and `listening_tool`. `turn_state` is what the first way hands to the second one.
"""
