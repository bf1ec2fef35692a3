"""The tasks of `qwf worker-check`, for an agent: docs/clients.md says what each does."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

from qwf_agent import FROM_AGENT, App, Checkpoint, PermanentError, TemporaryError

app = App()


@app.task("check.echo")
def echo(**inputs: Any) -> dict[str, Any]:
    return inputs


@app.task("check.sleep")
def sleep(seconds: float, beat: Path | None = None) -> dict[str, Any]:
    end, line = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        line += 1
        print("line", line, flush=True)
        if beat is not None:
            with beat.open("ab") as file:
                file.write(b".")
        time.sleep(0.1)
    return {"slept": True}


@app.task("check.stubborn")
def stubborn(seconds: float) -> dict[str, Any]:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            time.sleep(0.1)
        except BaseException:  # however it is asked to stop
            continue
    return {}


@app.task("check.progress")
def progress(seconds: float, status_callback: Any = FROM_AGENT) -> dict[str, Any]:
    status_callback(0.5, "half")
    time.sleep(seconds)
    return {}


@app.task("check.checkpoint")
def checkpoint(checkpoint: Checkpoint = FROM_AGENT) -> dict[str, Any]:
    if not checkpoint.value:
        checkpoint.save({"step": 1})
        checkpoint.save({"step": 2})
        raise RuntimeError("killed")
    return {"found": checkpoint.value}


@app.task("check.fail")
def fail(kind: str, message: str) -> None:
    errors = {"error": RuntimeError, "tempfail": TemporaryError, "fatal": PermanentError}
    raise errors[kind](message)


@app.task("check.output")
def output(kind: str, bytes: int = 0) -> Any:  # noqa: A002 - the name is that of the input
    return {"null": {"text": "a\0b"}, "list": [1, 2], "large": {"text": "x" * bytes}}[kind]
