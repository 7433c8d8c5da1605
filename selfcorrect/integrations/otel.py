"""OpenTelemetry: spans of runs, and counters."""

from selfcorrect.watching.otel import instrumented

__all__ = ["instrumented"]
