"""The folder of uploads: where a person's file goes that answers a question.

A file gets a random name, a suffix that agrees with its content, and appears under that name when
it is whole. Nothing that is there is ever opened or overwritten.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from types import TracebackType

from qwf_agent.web.site.files import PICTURES

MOST_BYTES = 64 * 1024 * 1024
FREE_BYTES = 4 * MOST_BYTES  # that the disk must have
NAME = re.compile(r"[0-9a-f]{32}\.[a-z0-9]{1,8}")
SUFFIX = re.compile(r"\.[a-z0-9]{1,8}")
PICTURE_BRANDS = {b"heic": ".heic", b"heix": ".heic", b"mif1": ".heic", b"avif": ".avif"}
SNIFFED = 16  # bytes
OLD_S = 3600.0  # nobody writes a part any more


class UploadRefused(Exception):
    """The file is not taken. The message says why."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def check_folder(folder: Path) -> Path:
    """The folder, if nobody but its owner and group writes there. Raises ValueError."""
    real = Path(os.path.realpath(folder.expanduser()))
    if not real.is_dir():
        raise ValueError(f"{str(folder)!r} is not a folder")
    if real.stat().st_mode & stat.S_IWOTH:
        raise ValueError(f"others may write to {str(folder)!r}: chmod o-w")
    if not os.access(real, os.W_OK | os.X_OK):
        raise ValueError(f"{str(folder)!r} cannot be written")
    for part in real.glob(".*.part"):  # of a page that was killed
        if part.stat().st_mtime < time.time() - OLD_S:
            part.unlink(missing_ok=True)
    return real


def path_of(folder: Path, name: str) -> str | None:
    """The path of an upload with this name; None if there is none."""
    if not NAME.fullmatch(name) or not (folder / name).is_file():
        return None
    return str(folder / name)


def suffix_for(name: str, start: bytes, accepted: Sequence[str] | None) -> str:
    """The suffix of a file that begins with `start` and was called `name`. Raises UploadRefused if
    its content is another one than it says, or if the question takes no such file."""
    given = PurePosixPath(name.replace("\\", "/")).suffix.lower()
    found = _picture(start)
    if found is None and (given in PICTURES or given in (".heic", ".avif")):
        raise UploadRefused(422, f"the content of the file is not that of a {given} file")
    suffix = found or (given if SUFFIX.fullmatch(given) else ".bin")
    if found is not None and given in (".jpg", ".jpeg") and found == ".jpg":
        suffix = given
    if accepted is not None and suffix not in accepted:
        raise UploadRefused(422, f"the question takes {', '.join(accepted)}, not {suffix}")
    return suffix


def _picture(start: bytes) -> str | None:
    for suffix, (_, signature) in PICTURES.items():
        if signature.match(start):
            return suffix
    return PICTURE_BRANDS.get(start[8:12]) if start[4:8] == b"ftyp" else None


class Upload:
    """A file that is being written. Leaving the block without `keep` deletes it."""

    def __init__(self, folder: Path) -> None:
        if shutil.disk_usage(folder).free < FREE_BYTES:
            raise UploadRefused(507, "the disk of the inbox is almost full")
        self._folder = folder
        self._part = folder / f".{secrets.token_hex(16)}.part"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        self._fd = os.open(self._part, flags, 0o640)
        self._size = 0
        self.start = b""

    def __enter__(self) -> Upload:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        os.close(self._fd)
        self._part.unlink(missing_ok=True)

    def write(self, data: bytes) -> None:
        """Add bytes. Raises UploadRefused at the first one too many."""
        self._size += len(data)
        if self._size > MOST_BYTES:
            raise UploadRefused(413, f"a file has at most {MOST_BYTES >> 20} MB")
        self.start = (self.start + data[:SNIFFED])[:SNIFFED]
        while data:
            data = data[os.write(self._fd, data) :]

    def keep(self, suffix: str) -> str:
        """Give the whole file its name, and return that. Raises UploadRefused if it is empty."""
        if not self._size:
            raise UploadRefused(422, "the file is empty")
        os.fsync(self._fd)
        name = secrets.token_hex(16) + suffix
        self._part.rename(self._folder / name)  # 128 random bits: no other file has it
        return name
