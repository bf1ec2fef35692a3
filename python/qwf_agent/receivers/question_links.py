"""The link in a mail by which its recipient answers one question."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

from qwf_agent.app.values import moment
from qwf_agent.receivers.config import Receiver
from qwf_agent.receivers.signed_links import secret_of_this_user, sign

LASTS = timedelta(days=7)


def link_for(receiver: Receiver, message: Mapping[str, Any], recipient: str) -> str | None:
    """A link to the question of the message, recorded as an answer of `link:RECIPIENT`; None if the
    message has none. Raises ConfigError if there is no secret to sign it with."""
    job, asked = message.get("job"), message.get("asked")
    if not job or not asked:
        return None
    token = sign(
        secret_of_this_user(), int(job), moment(str(asked)),
        datetime.now(timezone.utc) + LASTS, recipient[:80],
    )  # fmt: skip
    return f"{receiver.page.rstrip('/')}/answer/{token}"
