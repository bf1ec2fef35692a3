"""The error of the embedded server."""

from __future__ import annotations


class EmbeddedError(Exception):
    """The embedded server is not available. The message says what to do."""
