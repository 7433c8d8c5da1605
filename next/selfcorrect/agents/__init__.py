"""`SelfCorrection` for LangChain agents: every tool call walks the correction loop."""

from selfcorrect.agents.middleware import AgentOptions, SelfCorrection

__all__ = ["AgentOptions", "SelfCorrection"]
