"""Which files can be collected: those of other frameworks need environments of their own."""

from __future__ import annotations

from importlib.util import find_spec

FRAMEWORKS = {
    "pydantic_ai": "pydantic_ai",
    "openai_agents": "agents",
    "google_adk": "google.adk",
    "agent_framework": "agent_framework",
    "smolagents": "smolagents",
    "litellm": "litellm",
}
"""The module of each framework, by the name of its integration. `.ci/frameworks` makes the
environments."""


def is_there(module: str) -> bool:
    """Whether a module can be imported."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


collect_ignore = [f"test_{name}.py" for name, module in FRAMEWORKS.items() if not is_there(module)]
collect_ignore += ["proxy_raw_server.py", "proxy_sdk2.py", "proxy_shop.py"]  # programs of tests
if not is_there("fastmcp"):
    collect_ignore.append("test_mcp_two.py")
