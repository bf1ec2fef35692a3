"""Which versions of agent and schema understand each other."""

from __future__ import annotations


def spoken(version: str) -> list[str]:
    """The part of a version that agent and schema must share: before 1.0 the minor one counts."""
    major, minor, *_ = version.split(".")
    return [major, minor] if major == "0" else [major]
