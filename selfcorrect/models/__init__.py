"""The one way to a chat model."""
