"""Sends a listed file: whole, a part of it, or the start of a text. Nothing is sent as HTML."""

from __future__ import annotations

import io
import os
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

import anyio
import anyio.to_thread
from starlette.responses import Response, StreamingResponse

from qwf_agent.app.folder_mark import FolderMark, moment
from qwf_agent.look.draw.visible import visible
from qwf_agent.web.site.files import (
    PICTURES,
    TEXTS,
    FilePlace,
    Root,
    elsewhere,
    place,
    show,
    suffix_of,
)  # fmt: skip
from qwf_agent.web.site.open_file import open_listed

CHUNK_BYTES = 256 * 1024
TEXT_BYTES = 256 * 1024  # of a text that are shown
OPEN_S = 10.0  # a disk of the network that does not answer by then is refused
LONGEST_NAME = 120
HEADERS = {
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "cache-control": "private, no-cache",
}

# Reading waits in threads of its own: a disk that hangs must not stop the pages.
_threads = anyio.CapacityLimiter(16)


async def serve(
    roots: Sequence[Root],
    row: Mapping[str, Any],
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    download: bool = False,
) -> Response:
    """The answer to a request for a listed file. Raises FileRefused.

    `row` is its row of file_overview, `headers` are those of the request. Without `download`,
    pictures are shown, and of a text its first 256 kB.
    """
    where = place(row)
    is_text = show(row) == "text" and not download
    with _deadline(where):
        file = await _in_thread(open_listed, roots, where, _owner(row), row["size_bytes"])
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


async def start_of(roots: Sequence[Root], row: Mapping[str, Any]) -> bytes:
    """The first 256 kB of a listed file. Raises FileRefused."""
    where = place(row)
    with _deadline(where):
        file = await _in_thread(open_listed, roots, where, _owner(row), row["size_bytes"])
    with file, _deadline(where):
        start: bytes = await _in_thread(_start_of, file, TEXT_BYTES)
    return start


def _owner(row: Mapping[str, Any]) -> FolderMark:
    return FolderMark(
        row["instance"], 1, row["run_id"], moment(row["created_at"].isoformat()), row["job_id"],
        attempt=row["attempt"],
    )  # fmt: skip


@contextmanager
def _deadline(where: FilePlace) -> Iterator[None]:
    try:
        with anyio.fail_after(OPEN_S):
            yield
    except TimeoutError:
        raise elsewhere(where, "The disk did not answer in time", status=504) from None


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
    suffix = suffix_of(rel_path)
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
    """Return True if the browser has this version already."""
    known = given.get("if-none-match", "")
    return known == "*" or etag in [one.strip().removeprefix("W/") for one in known.split(",")]


def _start_of(file: io.FileIO, length: int) -> bytes:
    found = b""
    while len(found) < length and (more := _read(file, len(found), length - len(found))):
        found += more
    return found


def _read(file: io.FileIO, at: int, length: int) -> bytes:
    return os.pread(file.fileno(), length, at)


async def _in_thread(function: Any, *arguments: Any) -> Any:
    """The result of the function. If the wait for it is cut off, a file that it still opens is
    closed when nothing refers to it any more."""
    return await anyio.to_thread.run_sync(
        function, *arguments, abandon_on_cancel=True, limiter=_threads
    )
