"""Errors of model servers, which say whether to try again."""

from __future__ import annotations

import json
from http import HTTPStatus

from qwf_agent.app import PermanentError, TemporaryError
from qwf_agent.app.http_replies import retry_after_s

MAX_TEXT = 2000  # characters of a server's text in an error
BUSY = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
GONE = (HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT)
# How vLLM says, with status 500, that the process that computes has died. It ends soon after.
DEAD_ENGINE = ("enginedead", "enginecore encountered")


class ServerLost(Exception):
    """The server has died, or closed the connection before the end of its answer. The job is tried
    again, if possible by another agent."""


class Cancelled(Exception):
    """The job was cancelled while the server worked on its request."""


class Refused(PermanentError):
    """The server refuses the request: another try would be refused, too."""


class CutOff(PermanentError):
    """The answer has to be JSON, but it ended at the limit of tokens."""


class ServerFailed(Exception):
    """The server could not answer, or its answer is nothing that a model server says."""


class InvalidReply(Exception):
    """The answer does not fit the schema, not even at the second try."""


def of_status(status: int, body: str, retry_after: str | None, server: str) -> Exception:
    """The error that an answer with this status means."""
    text = _text_of(body)
    message = f"{server} answered {status}: {text}"
    if status in BUSY:
        return TemporaryError(message, retry_after_s=retry_after_s(retry_after))
    if status in GONE or any(words in text.lower() for words in DEAD_ENGINE):
        return ServerLost(message)
    if HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return Refused(message)
    return Refused(message) if status == HTTPStatus.NOT_IMPLEMENTED else ServerFailed(message)


def of_event(error: object, server: str) -> Exception:
    """The error that a server sends within a stream whose status was 200 already."""
    code = error.get("code") if isinstance(error, dict) else None
    status = code if isinstance(code, int) else HTTPStatus.INTERNAL_SERVER_ERROR
    return of_status(status, json.dumps({"error": error}), None, server)


def _text_of(body: str) -> str:
    """The message in the answer of a server: servers wrap it in different objects."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return body.strip()[:MAX_TEXT]
    while isinstance(value, dict):
        inner = (value[key] for key in ("error", "message", "detail") if value.get(key))
        value = next(inner, json.dumps(value, ensure_ascii=False))
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text[:MAX_TEXT]
