"""Small disks that can be filled."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path | None]:
    """A disk of this size in memory, mounted on a new folder; None if this user may not mount."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        yield None
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """A file that takes all that is left of the disk."""
    file = disk / "filler"
    with file.open("wb", buffering=0) as filler:
        free = os.statvfs(disk)
        with contextlib.suppress(OSError):
            os.posix_fallocate(filler.fileno(), 0, free.f_bavail * free.f_frsize)
        with contextlib.suppress(OSError):  # what became free meanwhile
            while True:
                filler.seek(0, os.SEEK_END)
                filler.write(b"\0" * 4096)
    return file
