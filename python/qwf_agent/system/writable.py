"""Tells whether a folder for files can be written."""

from __future__ import annotations

import errno
import os
import secrets
from pathlib import Path

# Errors that are the fault of this host, not of the job that meets them.
UNWRITABLE = (
    errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ENOTDIR,
    errno.ESTALE,
)  # fmt: skip


def why_unwritable(folder: Path) -> str | None:
    """Make the folder if it is missing, and write a small file into it. None if that works, else a
    text such as `cannot write /data/out (Read-only file system)`."""
    file = folder / f".qwf-test.{secrets.token_hex(4)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            file.write_bytes(b"x")
        finally:
            file.unlink(missing_ok=True)
    except OSError as error:
        return f"cannot write {folder} ({os.strerror(error.errno or 0)})"
    return None
