"""How long the server of `qwf web` waits for a request, and how many connections it holds."""

from __future__ import annotations

import asyncio
import resource

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 20.0  # for the head of a request, from its first byte or from the connection on
MOST_DESCRIPTORS = 65_536


class PatientProtocol(H11Protocol):
    """As uvicorn's, but a connection whose request has no whole head after HEAD_S is closed.

    uvicorn has no such bound: unfinished requests would hold their connections forever.
    """

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take the bytes; wait for the rest if they are the begin of a head."""
        answering = self.cycle
        super().data_received(data)
        if self.cycle is not answering:
            self._come()
        elif self._late is None and (self.cycle is None or self.cycle.response_complete):
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._come()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._late = self.loop.call_later(HEAD_S, self._close)

    def _come(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _close(self) -> None:
        self._late = None
        if self.transport is not None and not self.transport.is_closing():
            self.transport.close()


def raise_descriptors() -> None:
    """Let this process hold as many connections as its hard limit allows, up to
    MOST_DESCRIPTORS: many systems begin with 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MOST_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
