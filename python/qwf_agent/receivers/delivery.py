"""The task `qwf.send`: delivers one message to a receiver of this box."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from typing import Any

from qwf_agent import config
from qwf_agent.app import Checkpoint, PermanentError, TemporaryError
from qwf_agent.receivers import text
from qwf_agent.receivers.config import Receiver, read_receivers

COMMAND_S = 60.0
PING = {"v": 1, "id": "ping", "state": "test", "rule": "ping"}
FATAL_CODES = (64, 65, 78)  # EX_USAGE, EX_DATAERR, EX_CONFIG: retrying cannot help


def send(receiver: str, message: dict[str, Any] | None = None, *, checkpoint: Checkpoint) -> None:
    """Deliver a message; a ping needs none. qwf.toml and the secrets are read anew, so they can
    change while the agent runs. Raises TemporaryError if another try may help, else
    PermanentError, both naming the receiver."""
    try:
        receivers = read_receivers(config.load_toml().get("receiver", {}))
    except config.ConfigError as error:
        raise TemporaryError(f"receiver {receiver}: {error}") from None
    found = receivers.get(receiver)
    if found is None:
        raise TemporaryError(f"receiver {receiver}: qwf.toml of this agent has it no longer")
    try:
        deliver(found, message or PING, checkpoint)
    except TemporaryError as error:
        raise TemporaryError(
            f"receiver {receiver}: {error}", retry_after_s=error.retry_after_s
        ) from None
    except PermanentError as error:
        raise PermanentError(f"receiver {receiver}: {error}") from None
    except config.ConfigError as error:
        raise TemporaryError(f"receiver {receiver}: {error}") from None


def deliver(
    receiver: Receiver, message: dict[str, Any], checkpoint: Checkpoint | None = None
) -> None:
    """Deliver the message as the kind of the receiver says. A checkpoint keeps which recipients of
    a mail have it, for the next try. Raises TemporaryError, PermanentError, ConfigError. Mail and
    HTTP are imported when they are first used: most children never are."""
    if receiver.kind == "mail":
        from qwf_agent.receivers import mail

        mail.send(receiver, message, checkpoint)
    elif receiver.kind == "command":
        _run(receiver, message)
    elif receiver.kind == "ping":
        from qwf_agent import hooks

        hooks.ping(receiver.url, receiver.private)
    else:
        _post(receiver, message)


def _post(receiver: Receiver, message: dict[str, Any]) -> None:
    from qwf_agent.hooks import post

    link = text.link_of(message, receiver.page)
    body: Any = {**message, "link": link, "text": text.title(message)}
    if receiver.format == "text":
        body = text.lines(message, link)
    elif receiver.format == "slack":
        body = {"text": text.for_slack(text.lines(message, link))}
    secrets = receiver.secrets() or None
    post(receiver.url, body, secrets, id=str(message["id"]), private=receiver.private)


def _run(receiver: Receiver, message: dict[str, Any]) -> None:
    link = text.link_of(message, receiver.page)
    body = json.dumps({**message, "link": link, "text": text.title(message)})
    try:
        process = subprocess.Popen(receiver.argv, stdin=subprocess.PIPE, start_new_session=True)
    except OSError as error:
        raise TemporaryError(str(error)) from None
    try:
        process.communicate(body.encode(), COMMAND_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise TemporaryError(f"{receiver.argv[0]} did not end within {COMMAND_S:g} s") from None
    if process.returncode != 0:
        failed = f"{receiver.argv[0]} ended with exit code {process.returncode}"
        raise (PermanentError if process.returncode in FATAL_CODES else TemporaryError)(failed)
