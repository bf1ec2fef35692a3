"""What a check can find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """Something worth saying: a problem (the exit code tells), or a note; and what to do."""

    level: Literal["problem", "note"]
    what: str
    advice: str = ""


def problem(what: str, advice: str = "") -> Finding:
    """Something is wrong."""
    return Finding("problem", what, advice)


def note(what: str, advice: str = "") -> Finding:
    """Something to know; nothing is wrong."""
    return Finding("note", what, advice)
