"""How the agent reads the values that the database sends."""

from __future__ import annotations

import functools
import re
from datetime import timedelta

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Loader
from psycopg.types.string import TextLoader

# The server writes a plus sign before what follows a negative part: `-1 days +30:00:00`.
INTERVAL = re.compile(
    rb"(?:([+-]?\d+) years? ?)?(?:([+-]?\d+) mons? ?)?(?:([+-]?\d+) days? ?)?"
    rb"(?:([+-]?)(\d+):(\d+):([\d.]+))?"
)
YEAR_S, MONTH_S, DAY_S = 31_557_600, 2_592_000, 86_400  # as in extract(epoch)


class IntervalAsTimedelta(Loader):
    """Loads an interval in the style that every call sets; psycopg's own loader asks its connection
    for the style. One that Python cannot hold becomes the longest that it can."""

    def load(self, data: Buffer) -> timedelta:
        """The interval that the server sent, as long as extract(epoch) says."""
        return _timedelta(bytes(data))


@functools.lru_cache(maxsize=256)  # most jobs have the timeout of their queue
def _timedelta(data: bytes) -> timedelta:
    parts = INTERVAL.fullmatch(data)
    if parts is None:
        raise psycopg.DataError(f"not an interval: {data!r}")
    years, months, days, sign, hours, minutes, seconds = parts.groups()
    whole_s = YEAR_S * int(years or 0) + MONTH_S * int(months or 0) + DAY_S * int(days or 0)
    time_s = 3600 * int(hours or 0) + 60 * int(minutes or 0) + float(seconds or 0)
    try:
        return timedelta(seconds=whole_s) + timedelta(seconds=-time_s if sign == b"-" else time_s)
    except OverflowError:
        return timedelta.max if whole_s > 0 else timedelta.min


LOADERS = AdaptersMap(psycopg.adapters)
for _type in ("json", "jsonb", "uuid", "timestamptz"):
    LOADERS.register_loader(_type, TextLoader)
LOADERS.register_loader("interval", IntervalAsTimedelta)
