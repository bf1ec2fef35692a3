"""The folder for the files of one database: no two databases write into the same."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from qwf_agent.system.writable import why_unwritable

INSTANCE = "{instance}"  # in a path: the first characters of the id of the database
SHORT = 8
OWNER = ".qwf-instance"  # a file in the out-root: the id of the database that it belongs to
HALF_WRITTEN_S = 1.0
LONGEST_PATH = 4096  # bytes; of register_worker()


class OutRootTaken(Exception):
    """The folder belongs to another database. The message says what to do."""


def out_root_of(template: Path, instance: str) -> Path:
    """The out-root for the database with this id."""
    return Path(str(template).replace(INSTANCE, instance[:SHORT]))


def take_out_root(folder: Path, instance: str) -> str | None:
    """Make the folder belong to the database, unless it does; returns why it cannot be written, or
    None. Raises OutRootTaken if it belongs to another one."""
    try:
        owner = _owner(folder, instance)
    except OSError as error:
        return why_unwritable(folder) or f"cannot write {folder / OWNER} ({error.strerror})"
    if owner != instance:
        raise OutRootTaken(
            f"--out-root {folder} belongs to database {owner[:SHORT]}; use {folder / INSTANCE}"
        )
    return why_unwritable(folder)


def announce(info: str, out_root: Path) -> str:
    """The registration of a worker, with the folder where its files are: left out if the database
    would refuse the path. Pages then cannot show the files, but the agent works."""
    path = os.path.realpath(out_root) if ".." in out_root.parts else str(out_root)
    known = path.isprintable() and len(path.encode()) <= LONGEST_PATH
    return json.dumps({**json.loads(info), "out_root": path if known else None})


def _owner(folder: Path, instance: str) -> str:
    """The id in the file, which is written if there is none. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / OWNER
    until = time.monotonic() + HALF_WRITTEN_S
    while True:
        try:
            with file.open("x", encoding="ascii") as new:
                new.write(f"{instance}\n")
            return instance
        except FileExistsError:
            owner = file.read_text(encoding="ascii", errors="replace").strip()
        if owner:
            return owner
        if time.monotonic() > until:  # its agent was killed before it had written
            file.unlink(missing_ok=True)
        time.sleep(0.01)
