"""Notes that processes write outside the database: a JSON object a line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def note(file: str | Path, one: dict[str, Any], *, durable: bool = False) -> None:
    """One write of a short line, so that lines of several processes do not mix. `durable`: it is on
    the disk afterwards."""
    with open(file, "a") as notes:
        notes.write(json.dumps(one) + "\n")
        notes.flush()
        if durable:
            os.fsync(notes.fileno())


def read(file: Path) -> list[dict[str, Any]]:
    """The complete lines of a file of notes: a process may have died while it wrote the last."""
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text().splitlines(keepends=True) if "\n" in line]
