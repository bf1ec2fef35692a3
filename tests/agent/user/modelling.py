"""Models that write down when they are loaded and unloaded, and bodies that need them."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from qwf_agent import App

app = App()
JOURNAL = os.environ.get("JOURNAL", os.devnull)
NEEDS_CARD = bool(os.environ.get("NEEDS_CARD"))


def note(line: str) -> None:
    with open(JOURNAL, "a") as journal:
        journal.write(f"{line}\n")


class Net:
    def __init__(self, name: str) -> None:
        self.name = name
        self.used = 0


@app.model("flux", vram_gb=12, device=NEEDS_CARD)
def flux() -> Iterator[Net]:
    note("load flux")
    yield Net("flux")
    note("unload flux")


@app.model("sdxl", vram_gb=40, device=False)
def sdxl() -> Net:
    note("load sdxl")
    return Net("sdxl")


@app.model("helped", device=False)
def helped() -> Iterator[int]:
    """Works with a process that it does not hold on to."""
    pid = os.posix_spawn("/bin/sleep", ["sleep", "600"], {})
    yield pid
    os.kill(pid, 9)


@app.task()
def with_helper(model: int) -> dict[str, int]:
    return {"pid": model, "child": os.getpid()}


@app.model("clumsy", device=False)
def clumsy() -> Iterator[Net]:
    yield Net("clumsy")
    raise RuntimeError("cannot let go")


@app.model("missing", device=False)
def missing() -> Net:
    raise FileNotFoundError("weights.bin is not here")


@app.model("greedy", device=False)
def greedy() -> Net:
    raise RuntimeError("CUDA out of memory. Tried to allocate 20.00 GiB")


@app.model("slow", device=False)
def slow() -> Net:
    note("loading slow")
    time.sleep(600)
    return Net("slow")


@app.task()
def draw(model: Any, model_handle: Any) -> dict[str, Any]:
    """Returns the name of the model and how often it was used."""
    if model is None:
        return {"model": None, "pid": os.getpid()}
    assert model is model_handle
    model.used += 1
    return {"model": model.name, "used": model.used, "pid": os.getpid()}


@app.task()
def together(folder: Path, name: str, seconds: float = 0.0, until: Path | None = None) -> None:
    """Keeps a file with the name of the card while it runs, and notes which others run."""
    mine = folder / name
    mine.write_text(os.environ.get("CUDA_VISIBLE_DEVICES", "all"))
    note(f"{name}: {','.join(sorted(entry.name for entry in folder.iterdir()))}")
    end = time.monotonic() + 600
    while until is not None and not until.exists() and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(seconds)
    mine.unlink()


@app.task()
def cards() -> dict[str, Any]:
    return {
        "cuda": os.environ.get("CUDA_VISIBLE_DEVICES"),
        "hip": os.environ.get("HIP_VISIBLE_DEVICES"),
    }


@app.task()
def card_error(text: str) -> None:
    raise RuntimeError(text)


# A line of work over all kinds of queues ----------------------------------------------------------


@app.task()
def prepare(n: int) -> dict[str, int]:
    time.sleep(0.02)
    return {"n": n + 1}


@app.task()
def paint(n: int, model: Any, status_callback: Any) -> dict[str, Any]:
    for step in range(3):
        status_callback(step / 3)
        time.sleep(0.01)
    return {"n": n + 10, "by": model.name}


@app.task()
def caption(n: int) -> dict[str, int]:
    """Does its work in a program in its own session."""
    subprocess.run(["sleep", "0.05"], start_new_session=True, check=True)
    return {"n": n + 100}


@app.task()
def join(painted: int, captioned: int, out: Path) -> dict[str, int]:
    (out / "sum").write_text(str(painted + captioned))
    return {"sum": painted + captioned}
