"""Reads the values of a database, whatever they are: what Python cannot hold becomes text."""

from __future__ import annotations

import json
import math
import re
from datetime import datetime, timedelta
from typing import Any

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.types.datetime import IntervalLoader, TimestamptzLoader

from qwf_agent.look.draw.words import FarTime

MAX_DEPTH = 60  # what is nested deeper stays JSON text; drawing it would exhaust Python's stack
MAX_DIGITS = 4300  # Python's limit for whole numbers
TOKENS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[{\]}]')


class Length(timedelta):
    """A length of time as a person wrote it, which Postgres has read: months stay months."""

    text: str

    def __str__(self) -> str:
        return self.text


class LengthDumper(Dumper):
    """Sends a length of time as it was written."""

    def dump(self, obj: Length) -> bytes:
        """The text."""
        return obj.text.encode()


class TimeLoader(TimestamptzLoader):
    """Loads times; those that Python cannot hold as FarTime."""

    def __init__(self, oid: int, context: Any = None) -> None:
        super().__init__(oid, None)  # whatever the session's settings: statements are sent with ISO

    def load(self, data: Buffer) -> datetime:
        """The time, in UTC."""
        try:
            return super().load(data)
        except psycopg.DataError:
            return FarTime.read(bytes(data).decode())


class LengthLoader(IntervalLoader):
    """Loads lengths of time; those too long for Python as the longest."""

    def load(self, data: Buffer) -> timedelta:
        """The length of time."""
        if bytes(data).endswith(b"infinity"):  # since Postgres 17
            return timedelta.min if bytes(data).startswith(b"-") else timedelta.max
        try:
            return self._load_postgres(self, data)
        except psycopg.DataError:
            return timedelta.max


class TextLoader(Loader):
    """Loads texts, also those whose bytes are no UTF-8."""

    def load(self, data: Buffer) -> str:
        """The text."""
        return bytes(data).decode(errors="replace")


LOADERS: dict[str, type[Loader]] = {
    "timestamptz": TimeLoader,
    "interval": LengthLoader,
    "text": TextLoader,
}


def read_json(data: str | bytes) -> Any:
    """Read JSON. What is nested too deep stays JSON text, as do numbers that are too long."""
    text = data if isinstance(data, str) else bytes(data).decode(errors="replace")
    if text.count("[") + text.count("{") > MAX_DEPTH:
        text = _flattened(text)
    return _DECODER.decode(text)


def _flattened(text: str) -> str:
    """The JSON with each value below MAX_DEPTH levels replaced by a string of its JSON."""
    parts, depth, copied = [], 0, 0
    for found in TOKENS.finditer(text):
        if found[0] in ("[", "{"):
            depth += 1
            if depth == MAX_DEPTH + 1:
                parts.append(text[copied : found.start()])
                copied = found.start()
        elif found[0] in ("]", "}"):
            if depth == MAX_DEPTH + 1:
                parts.append(json.dumps(text[copied : found.end()]))
                copied = found.end()
            depth -= 1
    return "".join([*parts, text[copied:]])


def _whole(digits: str) -> int | str:
    return int(digits) if len(digits) <= MAX_DIGITS else digits


def _fraction(digits: str) -> float | str:
    number = float(digits)
    return number if math.isfinite(number) else digits


_DECODER = json.JSONDecoder(parse_int=_whole, parse_float=_fraction)
