"""Which versions of agent and schema are compatible."""

from __future__ import annotations

NO_SCHEMA = ("3F000", "42883", "42P01")  # SQLSTATEs of a database that is not deployed yet


def compatible_part(version: str) -> list[str]:
    """The part of a version that agent and schema must share: the major number, and before 1.0 the
    minor one too."""
    major, minor, *_ = version.split(".")
    return [major, minor] if major == "0" else [major]
