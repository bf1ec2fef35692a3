"""The packages that commands need. A program that only enqueues needs none of them."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Iterator

from qwf_agent.system.exit_codes import MISCONFIGURED

# What the extras `agent` and `cli` install, by the names that are imported.
AGENT = {"click", "psutil", "psycopg", "tomli"}
CLI = {"rich", "textual", "yaml", "yoyo"}

# The modules of the extra `otel` that qwf_agent.otel imports.
OTEL = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")


def missing_of_otel() -> str | None:
    """The first module of the extra `otel` that is not installed. Imports none of them."""
    for name in OTEL:
        try:
            found = importlib.util.find_spec(name)
        except ModuleNotFoundError:  # of a package around it
            found = None
        if found is None:
            return name
    return None


@contextlib.contextmanager
def needed(install: str) -> Iterator[None]:
    """Exit if a package of an extra is missing; `install` says what to do."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in AGENT | CLI:
            raise
        print(f"qwf: the package {error.name} is missing: {install}", file=sys.stderr)
        raise SystemExit(MISCONFIGURED) from None
