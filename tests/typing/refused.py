# pyright: reportUnnecessaryTypeIgnoreComment=true
"""What a type checker refuses before anything runs: each line is an error, or this file is one."""

from selfcorrect import SelfCorrection, ToolSpec, build_graph
from selfcorrect.integrations.tool_node import SelfCorrectingToolNode


def order(item: str) -> str:
    return item


SelfCorrection(strategies=12)  # pyright: ignore[reportArgumentType]
SelfCorrection(on_failure="rais")  # pyright: ignore[reportArgumentType]
SelfCorrection(limit={})  # pyright: ignore[reportCallIssue]
SelfCorrectingToolNode([order], on_failure="rais")  # pyright: ignore[reportArgumentType]
build_graph([order], strategies=12)  # pyright: ignore[reportArgumentType]
build_graph([order], limits=3)  # pyright: ignore[reportArgumentType]
build_graph([order], noddes={})  # pyright: ignore[reportCallIssue]
ToolSpec.from_function(order, effect="readonly")  # pyright: ignore[reportArgumentType]
