"""Which files and folders the code of a child came from, and whether they have changed
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


def own_files() -> list[str]:
    """Files of the modules that this process has imported and that are neither Python's, nor
    installed, nor ours (child)."""
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
    """The files and folders a child has named, and what they looked like then (agent)."""

    def __init__(self) -> None:
        self._seen: dict[str, Any] = {}
        self._look_at = 0.0

    def add(self, files: list[str]) -> None:
        """It has imported these, and from these."""
        for file in files:
            self._seen.setdefault(file, _look(file))

    def have_changed(self, now: float) -> bool:
        """Whether one of them has changed since; looks once a second."""
        if not self._seen or now < self._look_at:
            return False
        self._look_at = now + EVERY_S
        return any(_look(file) != then for file, then in self._seen.items())

    def clear(self) -> None:
        """The child has gone."""
        self._seen.clear()


def _look(file: str) -> Any:
    """When a file was changed, or which modules a folder has; None where there is none."""
    path = Path(file)
    with suppress(OSError):
        return sorted(path.glob("*.py")) if path.is_dir() else path.stat().st_mtime
    return None
