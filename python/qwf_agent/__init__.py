"""qwf: workflows and jobs on self-hosted machines. Postgres decides, this package runs the work."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qwf_agent.app import (
        FROM_AGENT,
        App,
        Call,
        Checkpoint,
        Job,
        NotCompleted,
        PermanentError,
        Release,
        TemporaryError,
        Track,
        events,
        jobs,
        runs,
    )  # fmt: skip

__version__ = "0.1.0"
__all__ = [
    "FROM_AGENT", "App", "Call", "Checkpoint", "Job", "NotCompleted", "PermanentError", "Release",
    "TemporaryError", "Track", "__version__", "events", "jobs", "runs",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Import `app` on first use: commands that only read do not need it."""
    if name in __all__:
        from qwf_agent import app

        return getattr(app, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
