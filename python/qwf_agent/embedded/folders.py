"""The folders of the embedded server: who owns them, and who may enter them."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import logging
import os
import pwd
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from qwf_agent.embedded.errors import EmbeddedError

SOCKET_PATH_LIMIT = 103  # bytes: macOS; Linux allows 107
# Postgres does not run as root: use the first of these accounts that exists.
ROOT_RUNS_AS = ("postgres", "nobody")

_logger = logging.getLogger(__name__)


def account_for_new_data() -> pwd.struct_passwd | None:
    """The account that a new server runs as: None for our own, another one if we are root."""
    if os.geteuid() != 0:
        return None
    for name in ROOT_RUNS_AS:
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise EmbeddedError(
        f"Postgres does not run as root, and none of the users {', '.join(ROOT_RUNS_AS)} exists"
    )


def owner_of(data: Path) -> pwd.struct_passwd | None:
    """The account that runs the server of existing data: its owner, or None if that is us."""
    owner = data.stat().st_uid
    if owner == os.geteuid():
        return None
    if os.geteuid() != 0:
        raise EmbeddedError(
            f"{data} belongs to another user: set QWF_HOME to a directory of your own"
        )
    return pwd.getpwuid(owner)


def allow_traversal(path: Path) -> None:
    """As root: let other users pass through the directories above `path`, but not read them.

    There is no asking: up() may run in a service. QWF_HOME names a place where it is not needed.
    """
    for directory in path.resolve().parents:
        mode = directory.stat().st_mode
        if not mode & stat.S_IXOTH:
            directory.chmod(stat.S_IMODE(mode) | stat.S_IXOTH)
            _logger.warning(
                "other users may now pass through %s, because Postgres runs as one of them and not"
                " as root; set QWF_HOME to a place like /var/lib/qwf to avoid this",
                directory,
            )


def socket_dir(data: Path, account: pwd.struct_passwd | None) -> Path:
    """A directory that only the server's owner can enter, with a path that a socket can have."""
    if _fits(data):
        return data
    name = f"qwf-{hashlib.sha256(os.fsencode(data)).hexdigest()[:16]}"
    uid, gid = (account.pw_uid, account.pw_gid) if account else (os.geteuid(), os.getegid())
    for parent in (Path(tempfile.gettempdir()), Path("/tmp")):  # noqa: S108 - made private below
        directory = parent / name
        if not _fits(directory):
            continue
        with contextlib.suppress(FileExistsError):
            directory.mkdir(mode=0o700)
            os.chown(directory, uid, gid)
        found = directory.lstat()
        if (
            not stat.S_ISDIR(found.st_mode)
            or found.st_uid != uid
            or stat.S_IMODE(found.st_mode) & 0o077
        ):
            raise EmbeddedError(f"{directory} is not private to the owner of the server: remove it")
        return directory
    raise EmbeddedError(f"the path {data} is too long for a socket: set QWF_HOME to a shorter one")


def _fits(directory: Path) -> bool:
    plain = not set(str(directory)) & set("\",'\\\n")
    return plain and len(os.fsencode(directory / ".s.PGSQL.65535")) <= SOCKET_PATH_LIMIT


def make_private(home: Path) -> None:
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise EmbeddedError(
            f"cannot make {home}: {error.strerror}; set QWF_HOME to a directory of your own"
        ) from None


@contextlib.contextmanager
def locked(home: Path) -> Iterator[None]:
    try:
        how = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(home / "lock", how, 0o600)
    except OSError as error:
        raise EmbeddedError(
            f"cannot write under {home}: {error.strerror}; set QWF_HOME to another place"
        ) from None
    try:
        # The holder releases it within the start and stop timeouts.
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
