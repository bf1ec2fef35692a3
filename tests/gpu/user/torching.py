"""A model and bodies that use a real card."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from qwf_agent import App

app = App()
GIB = 1 << 30


@app.model("net", vram_gb=4)
def net() -> Iterator[torch.Tensor]:
    weights = torch.ones(GIB, device="cuda")  # 4 GiB
    torch.cuda.synchronize()
    yield weights
    del weights


@app.model("second", vram_gb=2)
def second() -> torch.Tensor:
    return torch.ones(GIB // 2, device="cuda")


@app.model("too_large")
def too_large() -> torch.Tensor:
    return torch.ones(1 << 40, device="cuda")  # 4 TiB


@app.model("large")
def large() -> torch.Tensor:
    return torch.ones(5 * 10**9, device="cuda")  # 20 GB


@app.model("incomplete")
def incomplete() -> torch.Tensor:
    first = torch.ones(GIB, device="cuda")
    raise FileNotFoundError(f"the rest of the weights is not here, only {first.shape}")


@app.task(queue="gpu", model="net")
def use(model: torch.Tensor) -> dict[str, Any]:
    return {"sum": float(model[:1000].sum()), "pid": os.getpid()}


@app.task(queue="gpu")
def own() -> float:
    return float(torch.ones(GIB, device="cuda")[:1000].sum())


@app.task(queue="gpu")
def fill() -> float:
    kept = torch.ones(GIB, device="cuda")
    return float(torch.ones(1 << 40, device="cuda")[0] + kept[0])


@app.task(queue="gpu")
def assertion() -> None:
    """Reads beyond the end of a table on the card."""
    torch.zeros(3, device="cuda")[torch.tensor([5], device="cuda")]
    torch.cuda.synchronize()


@app.task(queue="gpu")
def compute(file: Path, seconds: float, status_callback: Any) -> None:
    """Keeps the card busy."""
    a = torch.rand(8192, 8192, device="cuda")
    status_callback(0.1)
    file.write_text(str(os.getpid()))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for _ in range(20):
            a = (a @ a).clamp(0, 1)
        torch.cuda.synchronize()


@app.task(queue="gpu")
def spin(file: Path, status_callback: Any) -> None:
    """Runs a kernel that never ends; the thread that waits for it cannot be interrupted."""
    file.write_text(str(os.getpid()))
    status_callback(0.1)
    torch.cuda._sleep(1 << 62)
    torch.cuda.synchronize()


@app.task(queue="gpu")
def idle(file: Path) -> None:
    """Holds the card without using it."""
    kept = torch.ones(GIB // 4, device="cuda")
    file.write_text(str(os.getpid()))
    time.sleep(600)
    del kept
