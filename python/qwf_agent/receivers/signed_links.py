"""Signs links to questions, and keeps the secret that signs them."""

from __future__ import annotations

import hmac
import os
import secrets
import stat
import struct
from base64 import urlsafe_b64encode
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from pathlib import Path

from qwf_agent import config
from qwf_agent.config import ConfigError

SECRET_BYTES = 32
LEAST_GIVEN = 32  # characters of a secret from the environment
MAC_BYTES = 16  # half of SHA-256, the least that RFC 2104 allows
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MILLISECOND = timedelta(milliseconds=1)
QUESTION = struct.Struct(">qqq")  # job, when it was asked, when the link ends: milliseconds
USE = b"qwf question 1\0"  # what is signed begins so: no other use of the secret makes a link


def sign(secret: bytes, job: int, asked: datetime, expires: datetime, name: str) -> str:
    """A token for the question of `job` that was asked at `asked`, column `since` of the view
    pending_inputs."""
    body = QUESTION.pack(job, milliseconds(asked), milliseconds(expires)) + name.encode()
    return _token(secret, body)


def milliseconds(when: datetime) -> int:
    """Milliseconds since 1970."""
    return (when - EPOCH) // MILLISECOND


def mac_of(secret: bytes, body: bytes) -> bytes:
    """The signature of a content."""
    return hmac.digest(secret, USE + body, "sha256")[:MAC_BYTES]


def _token(secret: bytes, body: bytes) -> str:
    return urlsafe_b64encode(mac_of(secret, body) + body).rstrip(b"=").decode()


# The secret -------------------------------------------------------------------------------------


def secret_of_this_user() -> bytes:
    """The secret that QWF_LINK_SECRET has, else that in the file link-secret of QWF_HOME, which
    `qwf web` and `qwf inputs --link` of one user share. Raises ConfigError."""
    return load_secret(config.home() / "link-secret", os.environ.get("QWF_LINK_SECRET"))


def load_secret(file: Path, given: str | None = None) -> bytes:
    """The secret that was given, or the one in `file`, which is made if it is not there.

    Two processes that start at once get the same secret. Raises ConfigError.
    """
    if given is not None:
        if len(given) < LEAST_GIVEN:
            raise ConfigError(f"the secret of the links has fewer than {LEAST_GIVEN} characters")
        return given.encode()
    try:
        return _read_secret(file)
    except FileNotFoundError:
        _make_secret(file)
    return _read_secret(file)


def _read_secret(file: Path) -> bytes:
    """Raises FileNotFoundError, and ConfigError if others could read or replace the secret."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from None
    with open(descriptor, "rb") as opened:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid():
            raise ConfigError(f"{file} must be a file of the user who runs qwf web")
        if facts.st_mode & 0o077:
            raise ConfigError(f"others may read or write {file}: chmod 600 it, or delete it")
        secret = opened.read(SECRET_BYTES + 1)
    if len(secret) != SECRET_BYTES:
        raise ConfigError(f"{file} is damaged: delete it, and a new one is made")
    return secret


def _make_secret(file: Path) -> None:
    """Write a new secret under another name first, so that no half of it is ever read."""
    draft = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with open(os.open(draft, flags, 0o600), "wb") as opened:
            opened.write(secrets.token_bytes(SECRET_BYTES))
            opened.flush()
            os.fsync(opened.fileno())
        with suppress(FileExistsError):  # another process was faster: its secret holds
            os.link(draft, file)
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            draft.unlink()
