"""A node that takes a moment and passes a number on."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any


def run(out: Path, baton: int) -> dict[str, Any]:
    time.sleep(0.02)
    (out / "baton.txt").write_text(str(baton))
    return {"baton": baton + 1}
