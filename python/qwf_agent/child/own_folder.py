"""Gives a job a folder that holds no files of another job.

The mark in a folder says whose it is. Files of another job, as a restored backup leaves them, are
moved aside, never used and never deleted. So are its own from other inputs: a body that leaves
what is there alone would return the result of those. A folder of another database is moved only
below the out-root, which belongs to this database; elsewhere that database may be at work in it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from qwf_agent.app import PermanentError, folder_mark
from qwf_agent.app.folder_mark import FolderMark
from qwf_agent.child.out_folder import Folder

TRIES = 20  # so often may others make or move a folder meanwhile
TAKEN = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR)
UNMARKED = "files that no mark says anything about"


class Moved(NamedTuple):
    """A folder that was moved aside: where it was and is, and whose files it has."""

    folder: str
    moved_to: str
    held: str

    def sentence(self) -> str:
        """A note for people about it."""
        return f"{self.folder} held {self.held}: moved to {self.moved_to}"


def take(folder: Folder, mark: FolderMark, ours: bool, moved: Callable[[Moved], None]) -> Path:
    """Make the folder of a job unless it has it from an earlier attempt, and return its path.

    `ours`: it is below the out-root, where only agents of this database make folders. `moved` is
    called for each folder that was moved aside. Raises PermanentError for a folder that is not to
    be used and cannot be moved, and OSError."""
    if folder.base != folder.path:
        run = mark._replace(job_id=None, node_id=None, attempt=None, inputs=None)
        _take(folder.base, run, ours, moved)
        ours = ours or _read(folder.base) is not None
        # What lies in a folder of this run without a mark was put there by another node of it.
        _take(folder.path, mark, ours, moved, shared=ours)
    else:
        _take(folder.path, mark, ours, moved)
    return folder.path


def mark_again(folder: Path, mark: FolderMark) -> None:
    """Put the mark back if the body has removed it with the rest of its folder."""
    with contextlib.suppress(OSError):
        if folder.is_dir() and not folder.is_symlink() and _read(folder) is None:
            _write(folder, mark)


def _take(
    folder: Path, mark: FolderMark, ours: bool, moved: Callable[[Moved], None], shared: bool = False
) -> None:
    for _ in range(TRIES):
        with contextlib.suppress(FileNotFoundError):  # somebody has moved it since
            if _make(folder, mark):
                return
            found = _read(folder)
            if found is None:
                is_empty = not any(folder.iterdir())
                if is_empty or shared:
                    _write(folder, mark)
                    return
                if not ours:
                    print(f"{str(folder)!r} has files without a mark: it is used as it is")
                    return
            elif _fits(found, mark):
                if (found.attempt or 0) < (mark.attempt or 0):
                    _write(folder, mark)
                return
            elif found.instance != mark.instance and not ours:
                raise PermanentError(
                    f"{str(folder)!r} has the files of {found.describe()}, and that database may"
                    " still use it: give the run another out_dir, or move the folder away"
                )
            with _lock(folder.parent):
                if _read(folder) == found:
                    moved(_move_aside(folder, _held(found, mark)))
    raise PermanentError(f"others move {str(folder)!r} again and again")


def _fits(found: FolderMark, mark: FolderMark) -> bool:
    """Return True if the folder is that of this job with these inputs: it was last used in this
    generation, by an earlier attempt, or by a later one that has begun since, if this one has lost
    its job. Otherwise the attempt was made in a life of the database that a restore has undone.

    The folder of a run stays its own after a restore: nodes that ended before have files in it."""
    if found.owner != mark.owner:
        return False
    if mark.job_id is None:
        return True
    if found.generation != mark.generation or mark.attempt is None or found.attempt is None:
        return False
    if found.attempt < mark.attempt and found.has_other_inputs(mark):
        return False
    return found.attempt < mark.attempt or found.marked_at > mark.marked_at


def _make(folder: Path, mark: FolderMark) -> bool:
    """Make the folder with its mark in one step, so that nobody sees it without; False if there is
    one."""
    try:  # one look: others may move it meanwhile
        is_folder = stat.S_ISDIR(folder.stat().st_mode)
    except FileNotFoundError:
        is_folder = None
    if is_folder:
        return False
    if is_folder is False or folder.is_symlink():  # a file, or a link to nothing
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    folder.parent.mkdir(parents=True, exist_ok=True)
    new = folder.parent / f".{folder.name[:200]}.{secrets.token_hex(4)}"
    new.mkdir()
    try:
        (new / folder_mark.NAME).write_text(mark.text(), encoding="utf-8")
        new.rename(folder)
    except OSError as error:
        shutil.rmtree(new, ignore_errors=True)
        if error.errno in TAKEN:
            return False
        raise
    return True


def _read(folder: Path) -> FolderMark | None:
    try:
        with (folder / folder_mark.NAME).open("rb") as file:
            return folder_mark.read(file.read(folder_mark.MOST_BYTES))
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _write(folder: Path, mark: FolderMark) -> None:
    new = folder / f"{folder_mark.NAME}.{secrets.token_hex(4)}"
    try:
        new.write_text(mark.text(), encoding="utf-8")
        new.replace(folder / folder_mark.NAME)
    except OSError:
        new.unlink(missing_ok=True)
        raise


def _held(found: FolderMark | None, mark: FolderMark) -> str:
    """Whose files these are, in words."""
    if found is None:
        return UNMARKED
    return f"the files of {found.describe()}" + (
        ", made from other inputs" if found.has_other_inputs(mark) else ""
    )


def _move_aside(folder: Path, held: str) -> Moved:
    """Rename the folder to a name that nobody uses. Raises PermanentError, and FileNotFoundError if
    somebody else has moved it."""
    day = time.strftime("%Y%m%d", time.gmtime())
    number = 1
    while True:
        aside = folder.with_name(f"{folder.name}.before-{day}{f'-{number}' if number > 1 else ''}")
        number += 1
        if os.path.lexists(aside):
            continue
        try:
            folder.rename(aside)
        except FileNotFoundError:
            raise
        except OSError as error:
            if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
                continue
            raise PermanentError(
                f"{str(folder)!r} has {held}, and cannot be moved aside: {error.strerror}; move or"
                " delete it, then retry the job"
            ) from error
        return Moved(_text(folder), _text(aside), held)


def _text(path: Path) -> str:
    return str(path).encode(errors="surrogateescape").decode(errors="replace")


@contextlib.contextmanager
def _lock(parent: Path) -> Iterator[None]:
    """Let one process at a time move folders here. The lock ends with its process; a disk that
    knows no locks does without."""
    with (parent / f"{folder_mark.NAME}-lock").open("ab") as file:
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
