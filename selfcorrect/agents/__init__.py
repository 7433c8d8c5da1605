"""`SelfCorrection` for LangChain agents: every tool call walks the correction loop.

`middleware` holds it. What every host shares are pure functions: `history.pair` takes the
units of a thread in any form and loads no LangChain; nor does `history.make_valid`, which takes the
messages of any provider; `thread.valid_thread`, `thread.open_calls`, `ending.may_end` and
`model_call.join_pieces` work on LangChain's messages.
"""
