"""Alerts in words: what a rule hears, whether a message was delivered, what an event says."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from qwf_agent.look.draw import words
from qwf_agent.receivers import text

OVER = ("completed", "failed", "cancelled")


def hears(rule: words.Row) -> str:
    """The kinds that a rule hears, about what, and when it tells: `run ended; workflow nightly`."""
    kinds = ", ".join(str(kind).replace("_", " ") for kind in rule["when"])
    where = dict(rule.get("where") or {})
    labels = where.pop("label", None) or {}
    about = [f"{name} {value}" for name, value in where.items()]
    about += [f"label {name}={words.brief(value)}" for name, value in labels.items()]
    by = rule.get("by", "subject")
    parts = [kinds, *about, "" if by == "subject" else f"one alert by {by}"]
    if rule.get("more_than"):
        parts.append(f"more than {rule['more_than']} within {_spelled(rule['within'])}")
    if rule.get("for"):
        parts.append(f"if it is still open after {_spelled(rule['for'])}")
    if rule.get("repeat"):
        parts.append(f"again every {_spelled(rule['repeat'])}")
    return "; ".join(part for part in parts if part)


def _spelled(seconds: float) -> str:
    return words.spell(timedelta(seconds=seconds))


def delivery(row: words.Row) -> str:
    """The delivery of the last message of an alert: `delivered`, `is tried again`."""
    if row["sent_to"] is None:
        return ""
    status = row["delivery"]
    if status is None:
        return "sent"  # its job is deleted: it ended long ago
    if status in OVER:
        return "delivered" if status == "completed" else "not delivered"
    return "is tried again" if row["delivery_error"] else "not sent yet"


def in_words(row: dict[str, Any]) -> dict[str, Any]:
    """A row of alert_details, alert_overview or receiver_overview for people."""
    if "kinds" in row:
        return {**row, "hears": hears(row["rule"])}
    if "hosts" in row:
        hosts = ", ".join(row["hosts"]) or "no live agent has it"
        return {**row, "hosts": hosts, "rules": ", ".join(row["rules"])}
    return told(row)


def told(row: dict[str, Any]) -> dict[str, Any]:
    """A row of alert_details for people."""
    return {**row, "delivery": delivery(row)}


def event(row: words.Row) -> tuple[str, str]:
    """An event in the words of messages, and the path of its page."""
    message = {**row, "run": row["run_id"], "job": row["job_id"]}
    return text.title(message), text.link_of(message, "/") or "/events"
