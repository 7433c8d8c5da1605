"""The tool node of graphs that are built by hand with LangGraph, and the way to it."""

from selfcorrect.langchain.tool_node import SelfCorrectingToolNode, calls_condition

__all__ = ["SelfCorrectingToolNode", "calls_condition"]
