"""Files that jobs have listed: where each is, how it is shown, and which folders are served.

A file is named by its row of the view file_overview, never by a path: the folder of a run comes
from a producer, and the names in it come from user code. open_file.py opens them, send_file.py
sends them.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from qwf_agent.look.draw.visible import visible

Show = Literal["picture", "text", "download"]

THUMBNAIL_BYTES = 8 * 1024 * 1024
HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}")

PICTURES = {
    ".png": ("image/png", re.compile(rb"\x89PNG\r\n\x1a\n")),
    ".jpg": ("image/jpeg", re.compile(rb"\xff\xd8\xff")),
    ".jpeg": ("image/jpeg", re.compile(rb"\xff\xd8\xff")),
    ".webp": ("image/webp", re.compile(rb"RIFF....WEBP", re.DOTALL)),
    ".gif": ("image/gif", re.compile(rb"GIF8[79]a")),
}
TEXTS = (".json", ".csv", ".txt", ".md", ".log")
MESHES = (".glb", ".ply", ".obj")


class FileRefused(Exception):
    """The file is not served. The message says why, and where the file is."""

    def __init__(self, status: int, message: str, scp: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.scp = scp  # a line for a shell that copies the file, if it can be copied


@dataclass(frozen=True)
class Root:
    """A folder below which files may be served: `--files [HOST=]DIR`.

    With a host it holds the files of that host; without, those of all hosts, as a shared disk
    does. The folder itself may be a link: the operator has named it.
    """

    folder: Path
    host: str | None = None


@dataclass(frozen=True)
class FilePlace:
    """Where a listed file is: its folder as the agent knows it, and the names from there on."""

    host: str | None
    out_root: str | None  # of the agent, if it has announced one
    folder: tuple[str, ...]  # below out_root, or from / on if `absolute`
    absolute: bool
    names: tuple[str, ...]  # of rel_path

    @property
    def path(self) -> str | None:
        """The path on its host, if it is known."""
        if self.absolute:
            return "/" + "/".join((*self.folder, *self.names))
        if self.out_root is None:
            return None
        return "/".join((self.out_root.rstrip("/"), *self.folder, *self.names))


def parse_root(text: str) -> Root:
    """`--files [HOST=]DIR`. Raises ValueError."""
    host, sign, folder = text.partition("=")
    if not sign or "/" in host:
        host, folder = "", text
    elif not HOST.fullmatch(host):
        raise ValueError(f"{host!r} is not the name of a host")
    path = Path(folder).expanduser().absolute()
    if not folder or not path.is_dir():
        raise ValueError(f"{folder!r} is not a folder")
    return Root(Path(os.path.normpath(path)), host or None)


def show(row: Mapping[str, Any]) -> Show:
    """How a listed file is shown, by its suffix; its content can still make it a download."""
    suffix = suffix_of(row["rel_path"])
    return "picture" if suffix in PICTURES else "text" if suffix in TEXTS else "download"


def has_thumbnail(row: Mapping[str, Any]) -> bool:
    """Return True if a page shows the picture itself: not if it is large."""
    return show(row) == "picture" and 0 < row["size_bytes"] <= THUMBNAIL_BYTES


def previews(rows: Iterable[Mapping[str, Any]]) -> dict[int, int]:
    """By the number of a mesh or point cloud, the number of the picture `NAME.png` beside it."""
    found = {row["rel_path"]: row["file_no"] for row in rows if has_thumbnail(row)}
    return {
        row["file_no"]: found[picture]
        for row in rows
        for picture in (
            f"{row['rel_path']}.png",
            str(PurePosixPath(row["rel_path"]).with_suffix(".png")),
        )
        if suffix_of(row["rel_path"]) in MESHES and picture in found
    }


def place(row: Mapping[str, Any]) -> FilePlace:
    """Where the file of a row of file_overview is. Raises FileRefused for what is no path.

    child/out_folder.py decides where a body writes.
    """
    wanted = row["out_dir"] or ""
    if wanted.startswith("~"):
        raise FileRefused(
            404, f"The folder of the run is {visible(wanted)!r}, which only the agent can tell."
        )
    if row["run_id"] is None:
        own: tuple[str, ...] = ("jobs", str(row["job_id"]))
    else:
        own = (str(row["run_id"]),)
    folder = (*_names([part for part in wanted.split("/") if part not in ("", ".")]), *own)
    names = _names(row["rel_path"].split("/"))
    return FilePlace(row["host"], row["out_root"], folder, wanted.startswith("/"), names)


def may_serve(roots: Sequence[Root], row: Mapping[str, Any]) -> bool:
    """Return True if a folder that is served may have the file. No disk is asked, so it may be
    gone."""
    try:
        where = place(row)
    except FileRefused:
        return False
    return any(below(root, where, _real_once(root.folder)) for root in roots)


def pictures(roots: Sequence[Root], rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Those of the files that a page can show as pictures."""
    return [dict(row) for row in rows if has_thumbnail(row) and may_serve(roots, row)]


@functools.cache
def _real_once(folder: Path) -> Path:
    """The folder without links, as it was when it was first asked for."""
    return Path(os.path.realpath(folder))


def below(root: Root, where: FilePlace, real: Path) -> list[tuple[str, ...]]:
    """The names from the root to the file, if the root may serve it. `real` is its folder without
    links."""
    if root.host is not None and root.host != where.host:
        return []
    found = []
    if where.path is not None:
        parts = Path(where.path).parts
        for folder in dict.fromkeys((root.folder, real)):
            if ".." not in parts and parts[: len(folder.parts)] == folder.parts:
                found.append(parts[len(folder.parts) :])
    # The root of a host, or of agents that have not said where they write, stands for their own.
    if not where.absolute and (root.host is not None or where.out_root is None) and not found:
        found.append((*where.folder, *where.names))
    return found


def _names(parts: Sequence[str]) -> tuple[str, ...]:
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise FileRefused(404, "The listed path leaves its folder, or is none: it is not served.")
    return tuple(parts)


def elsewhere(where: FilePlace, why: str, status: int = 404) -> FileRefused:
    """A refusal that says which host has the file, and the line that copies it from there."""
    host, path = where.host, where.path
    if host is None:
        return FileRefused(status, f"{why}. The job has not said which host it ran on.")
    if path is None:
        inside = visible("/".join((*where.folder, *where.names)))
        return FileRefused(
            status,
            f"{why}. Host {visible(host)} has it below the --out-root of its agent: {inside}",
        )
    copyable = HOST.fullmatch(host) and visible(path) == path and "\n" not in path
    line = f"scp {shlex.quote(f'{host}:{path}')} ." if copyable else None
    return FileRefused(status, f"{why}. Host {visible(host)} has it: {visible(path)}", line)


def suffix_of(rel_path: str) -> str:
    """The suffix of a name, in lower case."""
    return PurePosixPath(rel_path).suffix.lower()
