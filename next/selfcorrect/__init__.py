"""A runtime that repairs failed tool calls of LLM agents."""
