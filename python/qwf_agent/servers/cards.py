"""The cards of a box: what is on them, and how much memory of them is free."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

USABLE = 0.95  # of the memory of a card: drivers and programs take some that no estimate counts
# When a model has left a card, so much of its estimate has to be free, or so long is waited.
FREED, FREED_S = 0.8, 5.0
FRESH_S = 3.0  # older figures of the driver are not used


class Reading(NamedTuple):
    """Readings of the driver: how much memory of each card is used, MiB, and when that was read, in
    seconds on the monotonic clock."""

    at: float = float("-inf")
    used_mb: Mapping[str, int] = {}


class Resident(NamedTuple):
    """A holder of memory on a card: a server, or the model that a child of the agent holds. `mb` is
    the estimate of its memory, `load_s` what its last load took, `evict` lets it leave when it is
    not in use any more."""

    key: object
    card: str
    mb: int
    busy: bool
    since: float
    load_s: float
    evict: Callable[[], None]
    loading: bool = False
    leaving: bool = False


class Need(NamedTuple):
    """A load that has to come to a card, how much memory it needs, MiB, and since when a job waits
    for it. `key` is a server, or a child that wants to load a model."""

    key: object
    card: str
    mb: int
    since: float


class Freed(NamedTuple):
    """Memory that something has given back, MiB, and when."""

    card: str
    mb: int
    at: float


class CardMemory:
    """How much memory the cards have, what the driver says about it, and what was given back.

    The driver is only read while `wants_reading`. Without a driver no size is known, and everything
    fits.
    """

    def __init__(self, sizes_mb: Mapping[str, int]) -> None:
        self.reading = Reading()
        self.wants_reading = False  # somebody has asked for a reading that is not there yet
        self._sizes_mb = sizes_mb
        self._freed: list[Freed] = []
        self._unread_since: float | None = None

    def knows(self, card: str) -> bool:
        """Return True if the size of the card is known."""
        return bool(self._sizes_mb) and (card == "all" or card in self._sizes_mb)

    def note_freed(self, card: str, mb: int, now: float) -> None:
        """Note that something with this estimate has left the card."""
        if mb > 0 and self.knows(card):
            self._freed.append(Freed(card, mb, now))

    def has_settled(self, card: str, now: float) -> bool:
        """Return True if the memory that was given back on the card is free by now. A driver frees
        it a moment after the process has ended."""
        self._freed = [one for one in self._freed if not self._is_free(one, now)]
        settled = not any(share_memory(card, one.card) for one in self._freed)
        self.wants_reading = self.wants_reading or not settled
        return settled

    def is_read(self, now: float) -> bool:
        """Return True if there is a fresh reading, or the driver has not answered for so long that
        the estimates have to do."""
        self.wants_reading = True
        if now <= self.reading.at + FRESH_S:
            self._unread_since = None
            return True
        if self._unread_since is None or now > self._unread_since + 2 * FREED_S:
            self._unread_since = now
        return now >= self._unread_since + FREED_S

    def free_mb(self, card: str, residents: Iterable[Resident], now: float | None) -> int:
        """How much memory is free beside the estimates of what is on the card; with `now` at most
        as much as the driver says."""
        size_mb = sum(self._sizes_mb[number] for number in self._numbers(card))
        free_mb = int(USABLE * size_mb) - sum(one.mb for one in residents)
        if now is None or now > self.reading.at + FRESH_S:
            return free_mb
        unused_mb = self._unused_mb(card)
        return free_mb if unused_mb is None else min(free_mb, unused_mb)

    def _is_free(self, freed: Freed, now: float) -> bool:
        unused_mb = self._unused_mb(freed.card) if self.reading.at > freed.at else None
        enough = unused_mb is not None and unused_mb >= FREED * freed.mb
        return enough or now >= freed.at + FREED_S

    def _unused_mb(self, card: str) -> int | None:
        """Memory that is free by the driver; None if it has not said it of each of these cards."""
        numbers, used_mb = self._numbers(card), self.reading.used_mb
        if any(number not in used_mb for number in numbers):
            return None
        return sum(self._sizes_mb[number] - used_mb[number] for number in numbers)

    def _numbers(self, card: str) -> Iterable[str]:
        return self._sizes_mb if card == "all" else (card,)


def share_memory(one: str, other: str) -> bool:
    """Return True if two of a number, "all" and "none" mean the same card, or one of them means
    both."""
    return "none" not in (one, other) and (one == other or "all" in (one, other))
