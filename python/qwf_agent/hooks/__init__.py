"""Requests to addresses of other people, such as the web hooks of your customers: your task has the
same guard as the messages of alerts."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from qwf_agent.app import PermanentError, TemporaryError
from qwf_agent.app.http_replies import retry_after_s
from qwf_agent.hooks import guarded_http
from qwf_agent.hooks.guarded_http import TIMEOUT_S, HttpReply, RequestRefused, Unreachable

__all__ = ["HttpReply", "ping", "post", "retry_after_s", "sign"]

PASSING = (408, 425, 429)  # and all from 500 on


def post(
    url: str, body: Any, secret: str | bytes | Sequence[bytes] | None = None, *,
    id: str | None = None, headers: Mapping[str, str] | None = None,  # noqa: A002
    private: bool = False, timeout_s: float = TIMEOUT_S,
) -> HttpReply:  # fmt: skip
    """POST `body` (bytes, text, or a value that becomes JSON) to `url`, signed as Standard Webhooks
    says if there is a `secret` (whsec_...).

    The name is resolved, and no private, link-local, multicast or reserved address is reached, also
    none that is wrapped in IPv6. `private` allows addresses of the local network, and http. No
    redirect is followed, no proxy is used. Give `id` the same value in each try of a message, such
    as f"order-{number}". Raises TemporaryError if another try may help (no reply, 408, 425, 429,
    5xx), with the time that the other side asks for; else PermanentError.
    """
    data, kind = _encoded(body)
    sent = {"Content-Type": kind, **(headers or {})}
    if secret is not None:
        sent.update(sign(data, secret, id or uuid.uuid4().hex))
    try:
        reply = guarded_http.request("POST", url, data, sent, private, timeout_s)
    except RequestRefused as error:
        raise PermanentError(str(error)) from None
    except Unreachable as error:
        raise TemporaryError(str(error)) from None
    check(reply, url)
    return reply


def ping(url: str, private: bool = False) -> None:
    """GET an address, with the same guard. Raises TemporaryError, PermanentError."""
    try:
        reply = guarded_http.request("GET", url, private=private)
    except RequestRefused as error:
        raise PermanentError(str(error)) from None
    except Unreachable as error:
        raise TemporaryError(str(error)) from None
    check(reply, url)


def sign(body: bytes, secret: str | bytes | Sequence[bytes], id: str) -> dict[str, str]:  # noqa: A002
    """The headers of Standard Webhooks for a body. A text is whsec_ and base64; several keys sign
    while they are exchanged."""
    if isinstance(secret, str):
        secret = base64.b64decode(secret.removeprefix("whsec_"))
    keys = [secret] if isinstance(secret, bytes) else list(secret)
    at = str(int(time.time()))
    signed = f"{id}.{at}.".encode() + body
    marks = [base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode() for key in keys]
    return {
        "webhook-id": id,
        "webhook-timestamp": at,
        "webhook-signature": " ".join(f"v1,{mark}" for mark in marks),
    }


def check(reply: HttpReply, url: str) -> None:
    """Return for a reply of success. Raises TemporaryError, PermanentError."""
    host = urlsplit(url).netloc.rpartition("@")[2]  # the rest may be a secret
    if 200 <= reply.status < 300:
        return
    if 300 <= reply.status < 400:
        raise PermanentError(f"redirect of {host} not followed")
    text = f"{reply.status} from {host}"
    if reply.status in PASSING or reply.status >= 500:
        raise TemporaryError(text, retry_after_s=reply.retry_after_s)
    raise PermanentError(text)


def _encoded(body: Any) -> tuple[bytes, str]:
    if isinstance(body, bytes):
        return body, "application/octet-stream"
    if isinstance(body, str):
        return body.encode(), "text/plain; charset=utf-8"
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(), "application/json"
