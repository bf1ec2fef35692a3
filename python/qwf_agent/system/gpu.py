"""The cards of this box, read with the tools of their driver. The agent does not call this in its
own process, because a hung driver would hang the agent."""

from __future__ import annotations

import csv
import importlib
import json
import logging
import os
import shutil
import subprocess
from collections.abc import Callable
from typing import Any, NamedTuple

log = logging.getLogger("qwf_agent")

TOOL_S = 4.0  # longest a driver's command may take
MIB = 1 << 20
VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
# A card that reports less shares the machine's memory and does not know how much it has.
MIN_VRAM_BYTES = 2048 * MIB


class GpuCard(NamedTuple):
    """One card at one moment: its number, its use in percent, its memory in bytes, its id."""

    number: int
    use_percent: float
    used_bytes: int
    total_bytes: int
    uuid: str = ""  # if the driver tells it


Driver = Callable[[], list[GpuCard]]


def visible_devices(gpu: str | None) -> dict[str, str]:
    """Variables that show a child one card or none; empty: all cards."""
    if gpu in (None, "all"):
        return {}
    return dict.fromkeys(VISIBLE, "" if gpu == "none" else str(gpu))


def allowed_cards() -> set[str] | None:
    """Numbers of the cards that the environment of this process allows; None: all."""
    named = _named_cards()
    return None if named is None or not all(map(str.isdigit, named)) else set(named)


def ids_of(cards: list[GpuCard]) -> list[str]:
    """The ids of these cards, as far as they are known; if the environment of this process names
    its cards by their ids, these: so does a part of a card."""
    named = _named_cards() or []
    if named and not all(map(str.isdigit, named)):
        return [next((c.uuid for c in cards if c.uuid.startswith(one)), one) for one in named]
    return [card.uuid for card in cards if card.uuid]


def _named_cards() -> list[str] | None:
    given = next((os.environ[name] for name in VISIBLE if name in os.environ), None)
    return None if given is None else [part.strip() for part in given.split(",")]


def find_driver() -> Driver | None:
    """The first of nvidia-ml-py, nvidia-smi and rocm-smi that finds a card here; None if none
    does."""
    for make in (_nvml, _nvidia_smi, _rocm_smi):
        try:
            driver = make()
            if driver():
                return driver
        except Exception as error:  # not installed, no card, no permission: try the next one
            log.debug("%s: %s", make.__name__.strip("_"), error)
    return None


def _nvml() -> Driver:
    nvml: Any = importlib.import_module("pynvml")
    nvml.nvmlInit()

    def cards() -> list[GpuCard]:
        return [_nvml_card(nvml, index) for index in range(nvml.nvmlDeviceGetCount())]

    return cards


def _nvml_card(nvml: Any, index: int) -> GpuCard:
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    memory = nvml.nvmlDeviceGetMemoryInfo(handle)
    try:
        use = float(nvml.nvmlDeviceGetUtilizationRates(handle).gpu)
    except nvml.NVMLError:  # a partitioned card does not report it
        use = 0.0
    uuid = nvml.nvmlDeviceGetUUID(handle)  # bytes in its older versions
    uuid = uuid.decode() if isinstance(uuid, bytes) else str(uuid)
    return GpuCard(index, use, int(memory.used), int(memory.total), uuid)


def _nvidia_smi() -> Driver:
    query = "index,utilization.gpu,memory.used,memory.total,uuid"
    argv = [_tool("nvidia-smi"), f"--query-gpu={query}", "--format=csv,noheader,nounits"]
    return lambda: read_nvidia_smi(_run(argv))


def _rocm_smi() -> Driver:
    argv = [_tool("rocm-smi"), "--showuse", "--showmeminfo", "vram", "--json"]
    return lambda: read_rocm_smi(_run(argv))


def read_nvidia_smi(text: str) -> list[GpuCard]:
    """Cards from the output of nvidia-smi. A value that is not a number counts as 0; a line that is
    not about a card is skipped."""
    rows = [row for row in csv.reader(text.splitlines()) if len(row) >= 4]
    return [
        GpuCard(
            int(row[0]),
            _number(row[1]),
            int(_number(row[2]) * MIB),
            int(_number(row[3]) * MIB),
            "".join(row[4:]).strip(),
        )
        for row in rows
        if row[0].strip().isdigit()
    ]


def read_rocm_smi(text: str) -> list[GpuCard]:
    """Cards from the JSON that rocm-smi prints."""
    found = json.loads(text)
    return [
        GpuCard(
            int(name.removeprefix("card")),
            _number(values.get("GPU use (%)")),
            int(_number(values.get("VRAM Total Used Memory (B)"))),
            int(_number(values.get("VRAM Total Memory (B)"))),
        )
        for name, values in sorted(found.items())
        if name.startswith("card") and name.removeprefix("card").isdigit()
    ]


def vram_mb(cards: list[GpuCard]) -> int | None:
    """Memory of the largest card, MiB; None if no card reports a plausible value."""
    largest = max((card.total_bytes for card in cards), default=0)
    return largest // MIB if largest >= MIN_VRAM_BYTES else None


def _tool(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise FileNotFoundError(name)
    return path


def _run(argv: list[str]) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=TOOL_S, check=True)
    return done.stdout


def _number(text: Any) -> float:
    try:
        return float(str(text).strip())
    except ValueError:
        return 0.0
