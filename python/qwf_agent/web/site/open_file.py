"""Opens a listed file, so that nothing else than what the job has listed is read.

It is opened one folder after the other below a folder that the operator has named, without
following a link; it must be a plain file of the listed size, in a folder that is marked as that of
its run or job.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from qwf_agent.app import folder_mark
from qwf_agent.app.folder_mark import Mark
from qwf_agent.look.draw.visible import visible
from qwf_agent.web.site.files import FilePlace, FileRefused, Root, below, elsewhere

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# Of a pipe it would wait for a writer, were it not for NONBLOCK.
FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def open_listed(roots: Sequence[Root], where: FilePlace, owner: Mark, size: int) -> io.FileIO:
    """The open file. Raises FileRefused if no root has it, if it is not what was listed, or if its
    folder is that of another job."""
    ways = [
        (root, names)
        for root in roots
        for names in below(root, where, Path(os.path.realpath(root.folder)))
    ]
    if not ways:
        raise elsewhere(where, "No folder that is served here (--files) has it")
    for root, names in ways:
        try:
            inside = len(names) - len(where.names)  # from there on it is the folder of the job
            return _checked(_open_below(root.folder, names, inside, owner), size)
        except FileNotFoundError:
            continue
        except NotADirectoryError:  # so Linux says of a link, too, if a folder is wanted
            raise elsewhere(where, "A folder on the way to it is a link, or is none") from None
        except OSError as error:  # of a link: ELOOP on Linux, EMLINK on BSD
            raise elsewhere(where, f"It is not opened here: {error.strerror}") from None
    raise elsewhere(where, "It is not on this machine, or is deleted")


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
