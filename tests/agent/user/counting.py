"""A task whose job returns how many calls its child has made since the job before it."""

from __future__ import annotations

import sys
from typing import Any

from qwf_agent import App

app = App()
seen = {"calls": 0}


@app.task("count")
def count() -> dict[str, int]:
    sys.setprofile(note)
    calls, seen["calls"] = seen["calls"], 0
    return {"calls": calls}


def note(_frame: object, event: str, _argument: Any) -> None:
    seen["calls"] += event in ("call", "c_call")
