"""Replaces the NVIDIA driver's library: the cards are in the file FAKE_CARDS, a list of [percent,
used bytes, total bytes], which is read at every call."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from types import SimpleNamespace


class NVMLError(Exception):
    pass


def _cards() -> list[list[float]]:
    cards: list[list[float]] = json.loads(Path(os.environ["FAKE_CARDS"]).read_text())
    return cards


def nvmlInit() -> None:
    if not os.environ.get("FAKE_CARDS"):
        raise NVMLError("driver not loaded")


def nvmlDeviceGetCount() -> int:
    return len(_cards())


def nvmlDeviceGetHandleByIndex(index: int) -> int:
    return index


def nvmlDeviceGetUUID(index: int) -> str:
    return f"GPU-{os.environ.get('FAKE_BOX', 'box')}-{index}"


def nvmlDeviceGetMemoryInfo(index: int) -> SimpleNamespace:
    _, used, total = _cards()[index]
    return SimpleNamespace(used=used, total=total)


def nvmlDeviceGetUtilizationRates(index: int) -> SimpleNamespace:
    percent = _cards()[index][0]
    if percent < 0:  # a driver that hangs
        time.sleep(3600)
    return SimpleNamespace(gpu=percent)
