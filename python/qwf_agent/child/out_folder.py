"""The folder that a body writes to, and the list of the files in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from qwf_agent.app import PermanentError, folder_mark

MAX_FILES = 10_000
# By suffix; any other suffix is a plain file.
KINDS = {
    "png": "image", "jpg": "image", "jpeg": "image", "webp": "image", "gif": "image",
    "json": "json", "geojson": "json", "csv": "csv", "txt": "text", "md": "text",
    "ply": "pointcloud", "obj": "mesh", "glb": "mesh",
}  # fmt: skip


class OutRootFailed(Exception):
    """The folder for the files of all jobs cannot be written on this host; the message says
    why."""


class Folder(NamedTuple):
    """Where one job writes. Listed paths are relative to `base`: the folder of the run, or of the
    job itself."""

    base: Path
    path: Path

    def files(self) -> list[dict[str, Any]]:
        """The files below the folder, sorted by path; at most 10,000. What cannot be read is left
        out, and a line in the log of the job says so. Marks are not listed."""
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
    """`<out_dir or out_root>/<run>/<step>/<node>`, or `<out_root>/jobs/<job>` for a standalone job.
    A relative `out_dir` is below `out_root`. Raises PermanentError if it contains `..`, or if below
    `out_root` the folder of this run would lie in that of another run or job."""
    wanted = Path(out_dir or "").expanduser()
    if ".." in wanted.parts:
        raise PermanentError(
            f"the out_dir of the run contains '..': {out_dir!r}; give an absolute path, or one "
            "below the out-root of the agent"
        )
    root = out_root / wanted
    if run_id is None:
        own = root / "jobs" / str(job_id)
        return Folder(own, own)
    if root.is_relative_to(out_root):
        inner = root.relative_to(out_root).parts
        if inner[:1] == ("jobs",) or any(part.isdecimal() for part in inner):
            raise PermanentError(
                f"the out_dir of the run is {out_dir!r}: below the out-root of the agent, folders"
                " with a number as name, and jobs, are those of runs and jobs; enqueue it again"
                " with a name such as day-2026"
            )
    base = root / str(run_id)
    return Folder(base, base / (node_id or str(job_id)))


def kind(name: str) -> str:
    """The kind of a file, by its suffix."""
    return KINDS.get(name.rpartition(".")[2].lower(), "file") if "." in name else "file"


def _walk(top: Path) -> Iterator[tuple[os.DirEntry[str], int]]:
    """The files below `top` and their sizes. Links to folders are not followed."""
    if top.is_symlink():
        _warn(f"the files in {str(top)!r} are not listed: it is a link now")
        return
    found, folders = 0, [str(top)]
    while folders:
        for entry in _entries(folders.pop()):
            if entry.name == folder_mark.NAME or entry.name.startswith(f"{folder_mark.NAME}."):
                continue  # the second is one that was being written when its process was killed
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            elif (size := _size(entry)) is not None:
                if found == MAX_FILES:
                    _warn(f"more than {MAX_FILES} files in {str(top)!r}: the others are not listed")
                    return
                found += 1
                yield entry, size


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError as error:
        _warn(f"the files in {folder!r} are not listed: {error.strerror}")


def _size(entry: os.DirEntry[str]) -> int | None:
    """The size of a file; None for anything else."""
    try:
        return entry.stat().st_size if entry.is_file() else None
    except OSError as error:  # such as a circle of links, or a file that was removed just now
        _warn(f"the file {entry.path!r} is not listed: {error.strerror}")
        return None


def _warn(text: str) -> None:
    with suppress(OSError, ValueError):  # the body closed its output
        print(text)


def _text(path: str) -> str:
    """The path as text; bytes that are not UTF-8 are replaced."""
    return path.encode(errors="surrogateescape").decode(errors="replace")
