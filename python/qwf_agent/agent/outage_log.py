"""Logs that a database is gone, and that it is back."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from qwf_agent.agent.link import Link

log = logging.getLogger("qwf_agent")

INTERVAL_S = 10.0  # between two outages that are logged: a connection may break all the time


class OutageLog:
    """Looks at the connections to the database. Two that break together are one outage."""

    def __init__(self) -> None:
        self._since: float | None = None  # begin of the outage that was logged
        self._quiet_until = 0.0

    def step(self, links: Iterable[Link], now: float) -> None:
        """Log one line when a connection is lost, and one when all are back."""
        trouble = next((link.trouble for link in links if link.trouble is not None), None)
        if trouble is None and self._since is not None:
            log.info("connected to the database again after %.1f s", now - self._since)
            self._since, self._quiet_until = None, now + INTERVAL_S
        elif trouble is not None and self._since is None and now >= self._quiet_until:
            log.warning("lost the database, connecting again: %s", trouble)
            self._since = now
