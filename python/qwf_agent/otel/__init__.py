"""Traces with OpenTelemetry: a span for each body that an agent runs. Needs the extra `otel`."""

from __future__ import annotations

try:
    from qwf_agent.otel.spans import trace
except ModuleNotFoundError as error:
    if not (error.name or "").startswith("opentelemetry"):
        raise
    raise ImportError(
        f"the package {error.name} is missing: pip install 'qwf-agent[otel]'"
    ) from error

__all__ = ["trace"]
