"""Checks arguments against the JSON Schema that the model was sent."""
