"""Puts a server to sleep and wakes it, by the requests of vLLM's sleep mode. At level 1 the weights
move from the card to the memory of the box, and the process stays."""

from __future__ import annotations

import logging
import selectors

from qwf_agent.servers.config import ServerConfig
from qwf_agent.servers.probe import OK, Address, Request, ServerPlace

log = logging.getLogger("qwf_agent")

SLEEP, WAKE = "/sleep?level=1", "/wake_up"
ANSWER_S = 60.0  # the weights of a large model take seconds


class Sleep:
    """The requests to one server, at most one at a time.

    Invariant: `possible` stays false after the first request that the server did not carry out.
    """

    def __init__(self, selector: selectors.BaseSelector, config: ServerConfig) -> None:
        self.possible = config.sleep
        self._name = config.name
        self._selector = selector
        self._path = ""
        self._request: Request | None = None

    @property
    def is_asking(self) -> bool:
        """True if a request is under way."""
        return self._request is not None

    def ask(self, path: str, address: Address | None, now: float) -> bool:
        """Begin a request; False if the system is out of descriptors, which is no fault of the
        server. Without an address, the server has just ended, and gets none."""
        self._path = path
        try:
            if address is not None:
                self._request = Request(
                    self._selector, ServerPlace(address), path, now, b"", ANSWER_S
                )
        except OSError as error:
            log.warning("server %s: no request to %s: %s", self._name, path, error)
            return False
        return True

    def step(self, now: float) -> str | None:
        """None while the request is under way; then why it failed, empty if it did not."""
        request = self._request
        if request is None or not request.step(now):
            return None
        self._request = None
        if request.status == OK:
            return ""
        self.possible = False
        return f"{self._path}: {request.why or f'status {request.status}'}"

    def close(self) -> None:
        """Forget the request."""
        if self._request is not None:
            self._request.close()
            self._request = None
