"""The meaning of HTTP replies, for everything that sends a request."""

from __future__ import annotations

import http.client
import math
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime


class LastReply(http.client.HTTPResponse):
    """The reply to a request. Others may come before it, such as 103 Early Hints: http.client knows
    100 alone. 101 is a last one, and comes only to who asks for it."""

    def begin(self) -> None:
        super().begin()
        while 101 < self.status < 200:
            self.headers = self.msg = None  # type: ignore[assignment]
            super().begin()


def retry_after_s(header: str | None) -> float | None:
    """The seconds that a header `Retry-After` asks for, as a number or as a date (RFC 9110); 0 if
    the date is over, None without a header and for anything else."""
    try:
        seconds = float(header or "")
    except ValueError:
        try:
            at = parsedate_to_datetime(header or "")
            zone = at.tzinfo or timezone.utc  # the old form of C names none, and means this one
            seconds = (at.replace(tzinfo=zone) - datetime.now(timezone.utc)).total_seconds()
        except (ValueError, TypeError, OverflowError):
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None
