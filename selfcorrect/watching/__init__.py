"""Tells operators what runs do: log lines and OpenTelemetry; whatever leaves is redacted."""
