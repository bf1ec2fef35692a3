"""Serves the files that jobs have listed: each by its row of run_files, never by a path.

The folder of a run comes from a producer and the names in it come from user code. So a file is
opened one folder after the other below a folder that the operator has named, without following a
link; it must be a plain file and have the size that was listed. No content is ever sent as HTML.
"""

from __future__ import annotations

import functools
import io
import os
import re
import shlex
import stat
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from urllib.parse import quote

import anyio
import anyio.to_thread
from starlette.responses import Response, StreamingResponse

from qwf_agent.app import folder_mark
from qwf_agent.app.folder_mark import Mark, moment
from qwf_agent.look.draw.visible import visible

Show = Literal["picture", "text", "download"]

CHUNK_BYTES = 256 * 1024
TEXT_BYTES = 256 * 1024  # of a text that are shown
THUMBNAIL_BYTES = 8 * 1024 * 1024
OPEN_S = 10.0  # a disk of the network that does not answer by then is refused
LONGEST_NAME = 120
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
HEADERS = {
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "cache-control": "private, no-cache",
}
FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# Of a pipe it would wait for a writer, were it not for NONBLOCK.
FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

# Reading waits in threads of its own: a disk that hangs must not stop the pages.
_threads = anyio.CapacityLimiter(16)


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
    suffix = _suffix(row["rel_path"])
    return "picture" if suffix in PICTURES else "text" if suffix in TEXTS else "download"


def has_thumbnail(row: Mapping[str, Any]) -> bool:
    """Whether a page shows the picture itself: not if it is large."""
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
        if _suffix(row["rel_path"]) in MESHES and picture in found
    }


def place(row: Mapping[str, Any], out_dir: str | None, out_root: str | None) -> FilePlace:
    """Where the file of a row of run_files is. Raises FileRefused for what is no path.

    `out_dir` is that of its run. `out_root` is where the agents of its host write; see
    child/out_folder.py, which decides it.
    """
    wanted = out_dir or ""
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
    return FilePlace(row["host"], out_root, folder, wanted.startswith("/"), names)


def may_serve(
    roots: Sequence[Root], row: Mapping[str, Any], *, out_dir: str | None, out_root: str | None
) -> bool:
    """Whether a folder that is served may have the file. No disk is asked, so it may be gone."""
    try:
        where = place(row, out_dir, out_root)
    except FileRefused:
        return False
    return any(_below(root, where, _real_once(root.folder)) for root in roots)


def pictures(roots: Sequence[Root], rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Those of the files (with `out_dir` and `out_root`) that a page can show as pictures."""
    return [
        dict(row)
        for row in rows
        if has_thumbnail(row)
        and may_serve(roots, row, out_dir=row["out_dir"], out_root=row["out_root"])
    ]


async def serve(
    roots: Sequence[Root],
    row: Mapping[str, Any],
    *,
    out_dir: str | None,
    out_root: str | None,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    download: bool = False,
) -> Response:
    """The answer to a request for a listed file. Raises FileRefused.

    `row` is its row of run_files, with the `instance` of the database, `created_at` of its run or
    standalone job, and the last `attempt` of its job; `out_dir` that of its run, `out_root` what
    the agents of its host have announced (`workers.info ->> 'out_root'`); `headers` are those of
    the request. Without `download`, pictures are shown, and of a text its first 256 kB.
    """
    where = place(row, out_dir, out_root)
    owner = Mark(
        row["instance"], 1, row["run_id"], moment(row["created_at"].isoformat()), row["job_id"],
        attempt=row["attempt"],
    )  # fmt: skip
    is_text = show(row) == "text" and not download
    with _deadline(where):
        file = await _in_thread(_open_listed, roots, where, owner, row["size_bytes"])
    try:
        with _deadline(where):
            start = await _in_thread(_start_of, file, TEXT_BYTES if is_text else 16)
        media_type, whole = _type(row["rel_path"], start, download)
        given = {name.lower(): value for name, value in (headers or {}).items()}
        if not whole:
            return _text(file, start, row, method, given)
        return _body(file, media_type, row, method, given)
    except BaseException:
        file.close()
        raise


@contextmanager
def _deadline(where: FilePlace) -> Iterator[None]:
    try:
        with anyio.fail_after(OPEN_S):
            yield
    except TimeoutError:
        raise _elsewhere(where, "The disk did not answer in time", status=504) from None


# Opening ----------------------------------------------------------------------------------------


def _open_listed(roots: Sequence[Root], where: FilePlace, owner: Mark, size: int) -> io.FileIO:
    """The open file. Raises FileRefused if no root has it, if it is not what was listed, or if its
    folder is that of another job."""
    ways = [
        (root, below)
        for root in roots
        for below in _below(root, where, Path(os.path.realpath(root.folder)))
    ]
    if not ways:
        raise _elsewhere(where, "No folder that is served here (--files) has it")
    for root, names in ways:
        try:
            inside = len(names) - len(where.names)  # from there on it is the folder of the job
            return _checked(_open_below(root.folder, names, inside, owner), size)
        except FileNotFoundError:
            continue
        except NotADirectoryError:  # so Linux says of a link, too, if a folder is wanted
            raise _elsewhere(where, "A folder on the way to it is a link, or is none") from None
        except OSError as error:  # of a link: ELOOP on Linux, EMLINK on BSD
            raise _elsewhere(where, f"It is not opened here: {error.strerror}") from None
    raise _elsewhere(where, "It is not on this machine, or is deleted")


@functools.cache
def _real_once(folder: Path) -> Path:
    """The folder without links, as it was when it was first asked for."""
    return Path(os.path.realpath(folder))


def _below(root: Root, where: FilePlace, real: Path) -> list[tuple[str, ...]]:
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


def _open_below(folder: Path, names: Sequence[str], inside: int, owner: Mark) -> io.FileIO:
    """The plain file at the end of `names`, opened one after the other, none of them a link. The
    first `inside` of them lead to the folder of its run or job.

    Raises OSError. A folder that is swapped for a link meanwhile is found by the same flags."""
    at = os.open(folder, FOLDER_FLAGS)
    try:
        marks = [] if inside > 0 else [_mark_in(at)]
        for number, name in enumerate(names[:-1], 1):
            inner = os.open(name, FOLDER_FLAGS | os.O_NOFOLLOW, dir_fd=at)
            os.close(at)
            at = inner
            if number >= inside:
                marks.append(_mark_in(at))
        _check_marks([mark for mark in marks if mark is not None], owner)
        # A device may do something when it is opened, so it is looked at first, and again after.
        _check_plain(os.stat(names[-1], dir_fd=at, follow_symlinks=False), at)
        file = io.FileIO(os.open(names[-1], FILE_FLAGS, dir_fd=at), closefd=True)
        try:
            _check_plain(os.fstat(file.fileno()), at)
        except BaseException:
            file.close()
            raise
        return file
    finally:
        os.close(at)


def _mark_in(folder: int) -> Mark | None:
    """The mark in an open folder; None if it has none."""
    flags = FILE_FLAGS
    try:
        file = os.open(folder_mark.NAME, flags, dir_fd=folder)
    except OSError:
        return None
    try:
        return folder_mark.read(os.read(file, folder_mark.MOST_BYTES))
    except OSError:  # it is a folder
        return None
    finally:
        os.close(file)


def _check_marks(marks: Sequence[Mark], owner: Mark) -> None:
    """Raise FileRefused unless the folders on the way say that the file is of this job."""
    if not marks:
        raise FileRefused(
            404, f"Its folder has no mark ({folder_mark.NAME}) that says whose files it has."
        )
    run = owner if owner.run_id is None else owner._replace(job_id=None)
    for mark in marks:
        is_later = (mark.attempt or 0) > (owner.attempt or 0)
        if not mark.is_of_run(run) or mark.job_id not in (None, owner.job_id) or is_later:
            of = visible(mark.describe())
            unknown = f", attempt {mark.attempt}, which the database does not know"
            raise FileRefused(
                409, f"What is in its place now are files of {of}{unknown if is_later else ''}."
            )


def _check_plain(facts: os.stat_result, folder: int) -> None:
    """Raise PermissionError for what is no plain file, and for a hard link to a file of another
    user: where the system does not forbid making those, a body could list any file that way."""
    if not stat.S_ISREG(facts.st_mode):
        raise PermissionError(0, "it is not a plain file")
    if facts.st_nlink > 1 and facts.st_uid != os.fstat(folder).st_uid:
        raise PermissionError(0, "it is a hard link to a file of another user")


def _checked(file: io.FileIO, size: int) -> io.FileIO:
    """The file if it has the listed size; else it is closed. Raises FileRefused."""
    now = os.fstat(file.fileno()).st_size
    if now != size:
        file.close()
        raise FileRefused(
            409, f"It has changed since the job listed it: it had {size} bytes and has {now} now."
        )
    return file


def _names(parts: Sequence[str]) -> tuple[str, ...]:
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise FileRefused(404, "The listed path leaves its folder, or is none: it is not served.")
    return tuple(parts)


def _elsewhere(where: FilePlace, why: str, status: int = 404) -> FileRefused:
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


# Answering --------------------------------------------------------------------------------------


def _body(
    file: io.FileIO,
    media_type: str,
    row: Mapping[str, Any],
    method: str,
    given: Mapping[str, str],
) -> Response:
    """The file as it is, or the part that was asked for."""
    headers = {
        **HEADERS,
        "content-type": media_type,
        "content-disposition": _disposition(row["rel_path"], media_type.startswith("image/")),
        "accept-ranges": "bytes",
        "etag": _etag(os.fstat(file.fileno())),
    }
    size: int = row["size_bytes"]
    if _is_known(headers["etag"], given):
        file.close()
        return Response(status_code=304, headers=headers)
    start, end, status = 0, size, 200
    if given.get("if-range", headers["etag"]) == headers["etag"]:
        part = _range(given.get("range", ""), size)
        if part is not None:
            start, end, status = *part, 206
            headers["content-range"] = f"bytes {start}-{end - 1}/{size}"
    if start >= end and status == 206:
        file.close()
        return Response(status_code=416, headers={**HEADERS, "content-range": f"bytes */{size}"})
    headers["content-length"] = str(end - start)
    if method == "HEAD":
        file.close()
        return Response(status_code=status, headers=headers)
    return StreamingResponse(_chunks(file, start, end), status_code=status, headers=headers)


async def _chunks(file: io.FileIO, at: int, end: int) -> AsyncIterator[bytes]:
    """The bytes from `at` to `end`. A chunk is read when the one before it is sent."""
    with file:
        while at < end:
            chunk = await _in_thread(_read, file, at, min(CHUNK_BYTES, end - at))
            if not chunk:
                raise OSError("the file has become shorter while it was sent")
            at += len(chunk)
            yield chunk


def _text(
    file: io.FileIO, start: bytes, row: Mapping[str, Any], method: str, given: Mapping[str, str]
) -> Response:
    """The start of a text as plain text, in which every character can be seen."""
    facts = os.fstat(file.fileno())
    file.close()
    headers = {
        **HEADERS,
        "content-type": "text/plain; charset=utf-8",
        "content-disposition": _disposition(row["rel_path"], inline=True),
        "etag": _etag(facts, "text-"),
        "accept-ranges": "none",
    }
    if _is_known(headers["etag"], given):
        return Response(status_code=304, headers=headers)
    text = visible(start.decode("utf-8-sig", errors="replace").replace("\r\n", "\n"))
    if (left := row["size_bytes"] - len(start)) > 0:
        text += f"\n\n[{left} more bytes: download the file to read them]\n"
    body = text.encode()
    headers["content-length"] = str(len(body))
    return Response(b"" if method == "HEAD" else body, headers=headers)


def _type(rel_path: str, start: bytes, download: bool) -> tuple[str, bool]:
    """The type of the answer, and whether it is the whole file: by the suffix and the content."""
    suffix = _suffix(rel_path)
    media_type, signature = PICTURES.get(suffix, ("", None))  # content that differs: a download
    if not download and signature is not None and signature.match(start):
        return media_type, True
    is_text = suffix in TEXTS and b"\0" not in start
    return ("text/plain", False) if is_text and not download else ("application/octet-stream", True)


def _range(text: str, size: int) -> tuple[int, int] | None:
    """The first byte that was asked for and the one after the last; None to send everything."""
    found = re.fullmatch(r"bytes=([0-9]{0,18})-([0-9]{0,18})", text.strip())
    if found is None or not (found[1] or found[2]):
        return None
    if not found[1]:
        return max(size - int(found[2]), 0), size
    start = int(found[1])
    last = int(found[2]) if found[2] else max(start, size)
    return (start, min(last + 1, size)) if last >= start else None


def _disposition(rel_path: str, inline: bool) -> str:
    """Content-Disposition with the last name of the path, made safe for any system."""
    last = rel_path.rpartition("/")[2]
    safe = "".join(
        "_" if one in '<>:"/\\|?*%;\ufffd' or visible(one) != one or one in "\n\t" else one
        for one in last
    )
    safe = safe.strip(". ")
    if len(safe) > LONGEST_NAME:
        suffix = PurePosixPath(safe).suffix[:20]
        safe = safe[: LONGEST_NAME - len(suffix)] + suffix
    safe = safe or "file"
    plain = safe.encode("ascii", errors="replace").decode().replace("?", "_")
    kind = "inline" if inline else "attachment"
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(safe, safe='')}"


def _etag(facts: os.stat_result, kind: str = "") -> str:
    return f'"{kind}{facts.st_size:x}-{facts.st_mtime_ns:x}"'


def _is_known(etag: str, given: Mapping[str, str]) -> bool:
    """Whether the browser has this version already."""
    known = given.get("if-none-match", "")
    return known == "*" or etag in [one.strip().removeprefix("W/") for one in known.split(",")]


def _suffix(rel_path: str) -> str:
    return PurePosixPath(rel_path).suffix.lower()


# Threads ----------------------------------------------------------------------------------------


def _start_of(file: io.FileIO, length: int) -> bytes:
    found = b""
    while len(found) < length and (more := _read(file, len(found), length - len(found))):
        found += more
    return found


def _read(file: io.FileIO, at: int, length: int) -> bytes:
    return os.pread(file.fileno(), length, at)


async def _in_thread(function: Any, *arguments: Any) -> Any:
    """What the function returns. If the wait for it is cut off, a file that it still opens is
    closed when nothing refers to it any more."""
    return await anyio.to_thread.run_sync(
        function, *arguments, abandon_on_cancel=True, limiter=_threads
    )
