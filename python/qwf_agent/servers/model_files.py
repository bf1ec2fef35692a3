"""Looks whether the files of a model are on the disk, before a server is started for it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from qwf_agent.servers.config import ModelConfig

INDEX = "model.safetensors.index.json"  # names the files that hold the parts of a model
PART = re.compile(r"(.*-)(\d{5})-of-(\d{5})\.gguf")
FILES = (".gguf", ".safetensors")
CHECK_FILES_S = 10.0


class ModelFiles:
    """Which models of a server lack a file. The disk is read only at first, after a failure, and
    while one is missing: a disk of the network that hangs would make the agent wait."""

    def __init__(self, models: Iterable[ModelConfig]) -> None:
        self.missing: dict[str, str] = {}  # the file that is missing for a model
        self.look_at = 0.0  # when to look again
        self._models = models

    def look(self, now: float) -> bool:
        """Look; returns whether what is missing has changed."""
        found = {one.name: missing_file(one.path) for one in self._models if one.path}
        before = self.missing
        self.missing = {name: file for name, file in found.items() if file is not None}
        self.look_at = now + CHECK_FILES_S if self.missing else float("inf")
        return self.missing != before


def missing_file(path: str) -> str | None:
    """The first file that a model lacks; None if all are there. A path that is no path of this
    machine, such as the name of a model on a hub, lacks nothing."""
    try:
        return _missing(Path(path)) if _is_of_disk(path) or Path(path).exists() else None
    except OSError as error:
        return f"{path} ({error.strerror})"


def _is_of_disk(path: str) -> bool:
    """True if it must be a file or a folder: `org/name` may be the name of a model on a hub."""
    return path.startswith(("/", "./", "../")) or path.endswith(FILES)


def _missing(path: Path) -> str | None:
    wanted = [path]
    if part := PART.fullmatch(path.name):
        count = int(part[3])
        wanted = [path.with_name(f"{part[1]}{n:05}-of-{part[3]}.gguf") for n in range(1, count + 1)]
    elif (path / INDEX).is_file():
        found = (path / INDEX).stat()
        wanted = [path / name for name in _parts(path / INDEX, found.st_mtime_ns, found.st_size)]
        if not any(file.exists() for file in wanted) and any(path.glob("*.safetensors")):
            return None  # the same model in one file, as some hubs have it beside the parts
    lacking = (file for file in wanted if not file.exists() or not file.stat().st_size)
    return next(map(str, lacking), None)


@lru_cache(maxsize=64)
def _parts(index: Path, _changed: int, _size: int) -> tuple[str, ...]:
    """The files that an index names; none if it cannot be read: the server says why."""
    try:
        names = set(json.loads(index.read_bytes())["weight_map"].values())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ()
    return tuple(sorted(name for name in names if isinstance(name, str) and "\0" not in name))
