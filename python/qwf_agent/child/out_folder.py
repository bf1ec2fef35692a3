"""The folder that a body writes to, and the list of the files in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

MAX_FILES = 10_000
# By suffix; any other suffix is a plain file.
KINDS = {
    "png": "image", "jpg": "image", "jpeg": "image", "webp": "image", "gif": "image",
    "json": "json", "geojson": "json", "csv": "csv", "txt": "text", "md": "text",
    "ply": "pointcloud", "obj": "mesh", "glb": "mesh",
}  # fmt: skip


class Folder(NamedTuple):
    """Where one job writes. Listed paths are relative to `base`: the folder of the run, or of the
    job itself."""

    base: Path
    path: Path

    def make(self) -> Path:
        """Make the folder and its parents if needed, and return its path."""
        self.path.mkdir(parents=True, exist_ok=True)
        return self.path

    def files(self) -> list[dict[str, Any]]:
        """The files below the folder, sorted by path; at most 10,000."""
        return [
            {
                "rel_path": _text(os.path.relpath(entry.path, self.base)),
                "kind": kind(entry.name),
                "size_bytes": size,
            }
            for entry, size in sorted(_walk(self.path), key=lambda found: found[0].path)
        ]


def folder_of(
    job_id: int, run_id: int | None, node_id: str | None, out_dir: str | None, out_root: Path
) -> Folder:
    """`<out_dir or out_root>/<run>/<step>/<node>`, or `<out_root>/jobs/<job>` for a standalone
    job."""
    root = Path(out_dir).expanduser().absolute() if out_dir else out_root
    if run_id is None:
        own = root / "jobs" / str(job_id)
        return Folder(own, own)
    base = root / str(run_id)
    return Folder(base, base / (node_id or str(job_id)))


def kind(name: str) -> str:
    """The kind of a file, by its suffix."""
    return KINDS.get(name.rpartition(".")[2].lower(), "file") if "." in name else "file"


def _walk(top: Path) -> Iterator[tuple[os.DirEntry[str], int]]:
    found, folders = 0, [str(top)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif entry.is_file() and found < MAX_FILES:
                    found += 1
                    yield entry, entry.stat().st_size


def _text(path: str) -> str:
    """The path as text; bytes that are not UTF-8 are replaced."""
    return path.encode(errors="surrogateescape").decode(errors="replace")
