"""Deletes the files that jobs have left on this box.

A file is deleted only inside the folder of its own run or job, which its mark names, and no link is
followed on the way.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from qwf_agent.app import folder_mark
from qwf_agent.app.folder_mark import FolderMark

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
MARK_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def delete(path: str, row: Mapping[str, Any]) -> str | None:
    """Delete the file of a row of file_overview, which lies at `path`. Returns why it was not; None
    if it is gone, now or before."""
    own = f"jobs/{row['job_id']}" if row["run_id"] is None else str(row["run_id"])
    inside = f"/{own}/{row['rel_path']}"
    names = row["rel_path"].split("/")
    if not path.startswith("/") or not path.endswith(inside):
        return "where its folder is, only its agent can tell"
    if any(name in ("", ".", "..") or "\0" in name for name in names):
        return "its path leaves the folder of its job"
    folder = path.removesuffix(f"/{row['rel_path']}")
    try:
        _delete_below(folder, names, row)
    except FileNotFoundError:
        return None
    except PermissionError as error:
        return error.strerror or "it may not be deleted"
    except OSError as error:  # a link, or no folder
        return f"a folder on the way to it is not opened: {error.strerror}"
    return None


def _delete_below(folder: str, names: list[str], row: Mapping[str, Any]) -> None:
    """Raises OSError."""
    owner = FolderMark(
        row["instance"], 0, row["run_id"], folder_mark.moment(row["created_at"]),
        row["job_id"] if row["run_id"] is None else None,
    )  # fmt: skip
    at = os.open(folder, FOLDER_FLAGS)
    try:
        marks = [_mark_in(at)]
        for name in names[:-1]:
            inner = os.open(name, FOLDER_FLAGS | os.O_NOFOLLOW, dir_fd=at)
            os.close(at)
            at = inner
            marks.append(_mark_in(at))
        os.stat(names[-1], dir_fd=at, follow_symlinks=False)
        found = [mark for mark in marks if mark is not None]
        if not found or not all(
            mark.is_of_run(owner) and mark.job_id in (None, row["job_id"]) for mark in found
        ):
            raise PermissionError(0, f"its folder is not marked as that of {owner.describe()}")
        os.unlink(names[-1], dir_fd=at)
    finally:
        os.close(at)


def _mark_in(folder: int) -> FolderMark | None:
    """The mark in an open folder; None if it has none."""
    try:
        file = os.open(folder_mark.NAME, MARK_FLAGS, dir_fd=folder)
    except FileNotFoundError:
        return None
    try:
        return folder_mark.read(os.read(file, folder_mark.MOST_BYTES))
    finally:
        os.close(file)
