"""Signed links: a question on somebody's phone, without signing in.

A link names one question, and ends at a time. Anybody who has it may use it. Deleting
the file of the secret and starting `qwf web` again ends all links.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Literal

from qwf_agent.look.draw import words
from qwf_agent.look.draw.visible import visible
from qwf_agent.receivers import signed_links
from qwf_agent.receivers.signed_links import (
    EPOCH,
    MAC_BYTES,
    QUESTION,
    load_secret,
    mac_of,
    milliseconds,
    secret_of_this_user,
)

__all__ = [
    "LinkRefused", "QuestionLink", "check", "check_name", "load_secret", "open_question",
    "secret_of_this_user", "sign",
]  # fmt: skip

Reason = Literal["broken", "expired", "answered", "asked again", "gone"]

LONGEST_NAME = 80  # characters
LONGEST_TOKEN = 1000
LONGEST_H = 24 * 90  # hours that people let a link last


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
    return signed_links.sign(secret, job, asked, expires, name)


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
    if pending is not None and milliseconds(pending["since"]) == milliseconds(link.asked):
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


# Tokens -----------------------------------------------------------------------------------------


def _body(secret: bytes, token: str) -> bytes:
    """The content of a token. Raises LinkRefused if this secret has not signed it."""
    if len(token) > LONGEST_TOKEN or not token.isascii():
        raise _broken()
    try:
        whole = urlsafe_b64decode(token + "=" * (-len(token) % 4))
    except (Base64Error, ValueError):
        raise _broken() from None
    mac, body = whole[:MAC_BYTES], whole[MAC_BYTES:]
    if not hmac.compare_digest(mac, mac_of(secret, body)) or len(body) < QUESTION.size:
        raise _broken()
    return body


def _broken() -> LinkRefused:
    return LinkRefused(
        "broken", "This is not a valid link: a part of it is missing, or it was withdrawn."
    )


def _check_time(expires: int, now: datetime) -> None:
    if milliseconds(now) >= expires:
        when = _moment(expires).strftime("%Y-%m-%d %H:%M UTC")
        raise LinkRefused("expired", f"This link ended at {when}: ask for a new one.")


def _moment(milliseconds: int) -> datetime:
    return EPOCH + timedelta(milliseconds=milliseconds)
