"""How the agent writes its log: lines for people, or JSON objects for collectors."""

from __future__ import annotations

import json
import logging
import time
from datetime import datetime, timezone
from typing import Any

FORMATS = ("text", "json")


def start_log(verbose: bool, form: str = "text") -> None:
    """Log to standard error, one line or one JSON object for each event."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    logger = logging.getLogger("qwf_agent")
    logger.handlers[:] = [handler]
    logger.setLevel(logging.DEBUG if verbose else logging.INFO)


def fields(**values: Any) -> dict[str, Any]:
    """The `extra` of a log call: what a JSON log has besides the message. None is left out."""
    return {"fields": {name: value for name, value in values.items() if value is not None}}


class TextFormatter(logging.Formatter):
    """Writes a line. Messages contain foreign texts, such as errors and the reasons of orders: what
    they have after a line end is indented, so that it is no line of the log, and control characters
    are replaced."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        """The local time, and its distance from UTC."""
        there = time.strftime("%z", time.localtime(record.created))
        return f"{super().formatTime(record, datefmt)}{there}"

    def format(self, record: logging.LogRecord) -> str:
        """The line, and an indented one for each further line of the message or a traceback."""
        lines = super().format(record).rstrip("\n").split("\n")
        return "\n  ".join(map(_printable, lines))


class JsonFormatter(logging.Formatter):
    """Writes a JSON object: ts, level, logger, message, the fields of the event, and the traceback
    of an exception."""

    def format(self, record: logging.LogRecord) -> str:
        """The object as one line."""
        event = {
            "ts": datetime.fromtimestamp(record.created, timezone.utc).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            event["traceback"] = self.formatException(record.exc_info)
        return json.dumps(event)


def _printable(text: str) -> str:
    """The text without characters that could control a terminal."""
    return "".join(
        char if char.isprintable() or char == "\t" else "\N{REPLACEMENT CHARACTER}" for char in text
    )
