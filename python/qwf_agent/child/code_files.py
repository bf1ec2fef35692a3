"""Finds the files and folders that a child imported its code from, and whether they have changed
(--reload)."""

from __future__ import annotations

import os
import sys
import sysconfig
from contextlib import suppress
from pathlib import Path
from typing import Any

import qwf_agent

EVERY_S = 1.0


def imported_files() -> list[str]:
    """Files that this process has imported, without Python's own, installed packages and qwf
    (child)."""
    installed = {
        sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")
    }
    ours = str(Path(qwf_agent.__file__).parent)
    files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    return sorted(
        file
        for file in files
        if file and not any(file.startswith(f"{root}{os.sep}") for root in (*installed, ours))
    )


class CodeFiles:
    """The files and folders that a child reported, and their state at that time (agent)."""

    def __init__(self) -> None:
        self._states: dict[str, Any] = {}
        self._check_at = 0.0

    def add(self, files: list[str]) -> None:
        """Add files that the child imported, and folders that it imports from."""
        for file in files:
            self._states.setdefault(file, _state(file))

    def have_changed(self, now: float) -> bool:
        """Return True if one of them has changed since this was last true; checks once a second."""
        if not self._states or now < self._check_at:
            return False
        self._check_at = now + EVERY_S
        before, self._states = self._states, {file: _state(file) for file in self._states}
        return self._states != before

    def clear(self) -> None:
        """Remove all files, because the child has ended."""
        self._states.clear()


def _state(file: str) -> Any:
    """When the file was changed, or which modules the folder has; None if it does not exist."""
    path = Path(file)
    with suppress(OSError):
        return sorted(path.glob("*.py")) if path.is_dir() else path.stat().st_mtime
    return None
