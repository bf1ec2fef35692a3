"""Tasks that use a served model, and one whose model a child loads on the card."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prompts import app


@app.model("flux", vram_gb=50, device=False)
def flux() -> Iterator[str]:
    """Says in the file JOURNAL when it is loaded and unloaded."""
    _note("load")
    yield "flux"
    _note("unload")


@app.task()
def draw(model: Any, mark: str | None = None, until: str | None = None) -> dict[str, Any]:
    """With a mark it runs from the mark that it makes until the file `until` exists."""
    if mark is not None and until is not None:
        Path(mark).touch()
        while not Path(until).exists():
            time.sleep(0.01)
    return {"model": model}


def _note(what: str) -> None:
    with Path(os.environ["JOURNAL"]).open("a") as journal:
        journal.write(f"{what}\n")
