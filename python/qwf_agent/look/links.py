"""Signed links: a question on somebody's phone, without signing in.

A link names one question, and ends at a time. Anybody who has it may use it. Deleting
the file of the secret and starting `qwf web` again ends all links.
"""

from __future__ import annotations

import hmac
import os
import secrets
import stat
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Literal

from qwf_agent import config
from qwf_agent.config import ConfigError
from qwf_agent.look.draw import words
from qwf_agent.look.draw.visible import visible

Reason = Literal["broken", "expired", "answered", "asked again", "gone"]

SECRET_BYTES = 32
LEAST_GIVEN = 32  # characters of a secret from the environment
MAC_BYTES = 16  # half of SHA-256, the least that RFC 2104 allows
LONGEST_NAME = 80  # characters
LONGEST_TOKEN = 1000
LONGEST_H = 24 * 90  # hours that people let a link last
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MILLISECOND = timedelta(milliseconds=1)
QUESTION = struct.Struct(">qqq")  # job, when it was asked, when the link ends: milliseconds
USE = b"qwf question 1\0"  # what is signed begins so: no other use of the secret makes a link


class LinkRefused(Exception):
    """The link does not open what it names. The message is for the person who has it."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class QuestionLink:
    """The content of a link to a question: the question of `job` that was asked at `asked`."""

    job: int
    asked: datetime
    expires: datetime
    name: str

    @property
    def by(self) -> str:
        """Who answers, as the answer is recorded. The name is what the maker of the link wrote."""
        return f"link:{self.name}"


def sign(secret: bytes, job: int, asked: datetime, expires: datetime, name: str) -> str:
    """A token for the question of `job` that was asked at `asked`, column `since` of the view
    pending_inputs. Raises ValueError for a name that cannot be shown."""
    check_name(name)
    body = QUESTION.pack(job, _milliseconds(asked), _milliseconds(expires)) + name.encode()
    return _token(secret, body)


def check(secret: bytes, token: str, now: datetime) -> QuestionLink:
    """The content of a token, if this secret has signed it and it has not ended. Raises
    LinkRefused.

    Whether the question still waits is another matter: see open_question.
    """
    body = _body(secret, token)
    job, asked, expires = QUESTION.unpack(body[: QUESTION.size])
    _check_time(expires, now)
    name = body[QUESTION.size :].decode()
    return QuestionLink(job, _moment(asked), _moment(expires), name)


def open_question(
    link: QuestionLink, pending: Mapping[str, Any] | None, answer: Mapping[str, Any] | None
) -> None:
    """Return if the question of the link still waits, else raise LinkRefused.

    `pending` is the row of the view pending_inputs for the job, `answer` its newest row of
    input_answers; None if there is none. The job may ask again after that, so answer_job gets the
    time of the link as `asked`, and refuses the answer if it has.
    """
    if pending is not None and _milliseconds(pending["since"]) == _milliseconds(link.asked):
        return
    if answer is not None and answer["answered_at"] >= link.asked:
        when = answer["answered_at"].astimezone(timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
        if answer["by_default"]:
            raise LinkRefused("answered", f"Nobody answered this question in time ({when}).")
        by = words.who(answer["login"], answer["acting_for"])
        raise LinkRefused("answered", f"This question was answered by {by} at {when}.")
    if pending is not None:
        raise LinkRefused(
            "asked again", "This link is for an earlier question of this job: ask for a new link."
        )
    raise LinkRefused(
        "gone", "This question waits no longer: its job or run has ended, or was cancelled."
    )


def check_name(name: str) -> None:
    """Raise ValueError for a name that is empty, too long, or has unseen characters."""
    if not name.strip() or len(name) > LONGEST_NAME:
        raise ValueError(f"the name in a link has 1 to {LONGEST_NAME} characters")
    if visible(name) != name or not name.isprintable():
        raise ValueError("the name in a link has a character that cannot be seen")


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


# Tokens -----------------------------------------------------------------------------------------


def _token(secret: bytes, body: bytes) -> str:
    return urlsafe_b64encode(_mac(secret, body) + body).rstrip(b"=").decode()


def _body(secret: bytes, token: str) -> bytes:
    """The content of a token. Raises LinkRefused if this secret has not signed it."""
    if len(token) > LONGEST_TOKEN or not token.isascii():
        raise _broken()
    try:
        whole = urlsafe_b64decode(token + "=" * (-len(token) % 4))
    except (Base64Error, ValueError):
        raise _broken() from None
    mac, body = whole[:MAC_BYTES], whole[MAC_BYTES:]
    if not hmac.compare_digest(mac, _mac(secret, body)) or len(body) < QUESTION.size:
        raise _broken()
    return body


def _mac(secret: bytes, body: bytes) -> bytes:
    return hmac.digest(secret, USE + body, "sha256")[:MAC_BYTES]


def _broken() -> LinkRefused:
    return LinkRefused(
        "broken", "This is not a valid link: a part of it is missing, or it was withdrawn."
    )


def _check_time(expires: int, now: datetime) -> None:
    if _milliseconds(now) >= expires:
        when = _moment(expires).strftime("%Y-%m-%d %H:%M UTC")
        raise LinkRefused("expired", f"This link ended at {when}: ask for a new one.")


def _milliseconds(when: datetime) -> int:
    return (when - EPOCH) // MILLISECOND


def _moment(milliseconds: int) -> datetime:
    return EPOCH + timedelta(milliseconds=milliseconds)
