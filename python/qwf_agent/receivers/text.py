"""The message of an alert as text, and where its link leads."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from qwf_agent.app.values import moment

Message = Mapping[str, Any]
STATES = {"open": "", "still": "still: ", "resolved": "resolved: ", "storm": "", "test": "test: "}
STORM = (
    "At most 20 messages of a rule go out in an hour. The next 20 are told when the hour is over;"
    " what is left and over then is only counted in the next storm message."
)
LONGEST_TITLE = 200
LASTING = ("runs_for", "waits_for", "usual", "expected", "takes", "every")  # seconds


def link_of(message: Message, page: str) -> str | None:
    """The page about the run or job of the message, if the receiver says where the pages are."""
    if not page:
        return None
    base = page.rstrip("/")
    if message.get("kind") == "question_asked" and message.get("job"):
        return f"{base}/inputs/{message['job']}"
    if message.get("run"):
        return f"{base}/runs/{message['run']}"
    if message.get("job"):
        return f"{base}/jobs/{message['job']}"
    return f"{base}/events"


def title(message: Message) -> str:
    """One line, such as: run 812 of nightly failed: load failed: boom."""
    says = _says(message)
    return one_line(f"{STATES.get(str(message.get('state')), '')}{says}")[:LONGEST_TITLE]


def lines(message: Message, link: str | None, answer: str | None = None) -> str:
    """The whole message, for people."""
    names = message.get("names") or {}
    count, more = message.get("count", 0), message.get("more")
    text = [title(message), ""]
    if message.get("state") == "storm":
        text.append(STORM)
    if message.get("state") in ("open", "still", "resolved") and count > 1:
        text.append(_events(count) + (f", {more} since the last message" if more else ""))
    for key in ("first", "last"):
        if message.get(key) and (key == "first" or message[key] != message.get("first")):
            text.append(f"{key}: {_to_the_second(message[key])}")
    text += [f"{key}: {value}" for key, value in names.items()]
    for key, value in (message.get("detail") or {}).items():
        if key in LASTING and isinstance(value, (int, float)):
            text.append(f"{key.replace('_', ' ')}: {timedelta(seconds=round(value))}")
    if answer:
        text += ["", "Answer (this link is for you alone, and works once):", answer]
    if link:
        text += ["", link]
    text += ["", f"alert {message.get('rule')}, message {message.get('id')}"]
    return "\n".join(text) + "\n"


def for_slack(text: str) -> str:
    """The text as Slack shows it letter by letter: else an error such as <!channel> calls everybody
    there, and <https://a|b> hides where a link leads."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def one_line(text: str) -> str:
    """The text without line breaks and control characters: it becomes a header."""
    return "".join(one if one.isprintable() else " " for one in text)


def _says(message: Message) -> str:
    detail = message.get("detail") or {}
    kind, subject = message.get("kind"), message.get("subject", "")
    rule = message.get("rule")
    asks = (message.get("names") or {}).get("node") or subject  # the task of a node is input
    if message.get("state") == "storm":
        return f"{rule}: storm: {message.get('count')} more subjects; quiet for the hour"
    if message.get("state") == "test":
        return f"{rule}: this is a test"
    if message.get("state") == "resolved":
        if kind == "question_asked":
            return f"{asks} no longer asks"
        return f"{subject or rule} ({str(kind).replace('_', ' ')}, {_events(message.get('count'))})"
    error = f": {detail['error']}" if detail.get("error") else ""
    if kind == "run_ended":
        return f"run {message.get('run')} of {subject} {detail.get('status', 'ended')}{error}"
    if kind == "job_failed":
        return f"job {message.get('job')} ({subject}) failed{error}"
    if kind == "run_late":
        return f"run {message.get('run')} of {subject} is late"
    if kind == "job_late":
        return f"job {message.get('job')} ({subject}) is late"
    if kind == "cannot_run_anywhere":
        return f"job {message.get('job')} ({subject}) fits no worker{error}"
    if kind == "question_asked":
        return f"{asks} asks: {detail.get('prompt', 'what to do')}"
    return f"{subject or rule}: {str(kind).replace('_', ' ')}{error}"


def _events(count: Any) -> str:
    return "1 event" if count == 1 else f"{count} events"


def _to_the_second(at: str) -> str:
    """A time as people read it, in its own zone."""
    return f"{moment(at):%Y-%m-%d %H:%M:%S %Z}"
