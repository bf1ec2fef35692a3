"""The one session that listens for all tabs: samples of hosts, and changes to read at once."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql
from psycopg_pool import PoolTimeout

from qwf_agent.web.reads.connections import APPLICATION, CONNECT_S
from qwf_agent.web.reads.database import Database, sequence

if TYPE_CHECKING:
    from typing_extensions import LiteralString

log = logging.getLogger("qwf_agent.web")
METRICS, CONTROL, EVENTS = "hw_metrics", "worker_control", "qwf_events"
ECHO: LiteralString = "select pg_notify(%(channel)s, 'echo')"
ECHO_S = (5.0, 30.0)  # how long an echo may take on a new session; how often one is sent
AGAIN_S = (1.0, 60.0)  # the first and the longest pause before the next session
MOST_CARDS = 64
MOST = 1e15
NUMBERS = (
    *("cpu_percent", "cpu_ours_percent", "ram_percent", "ram_used_mb", "ram_total_mb"),
    *("ram_ours_used_mb", "swap_used_mb"),
)
CARD_NUMBERS = ("use_pct", "vram_used_mb", "vram_total_mb")


class Listener:
    """Listens, and says whether notifications arrive.

    Invariants: at most one session, and none unless run() runs. `works` is true only while an echo
    sent over another connection has come back within ECHO_S: through a pooler, LISTEN succeeds and
    hears nothing.
    """

    def __init__(
        self, dsn: str, database: Database, hear: Callable[[str, str], Awaitable[None]]
    ) -> None:
        self.works = False
        self.why = "nobody looks"  # why it does not work
        self._dsn, self._database, self._hear = dsn, database, hear
        self._echo = f"qwf_web_{secrets.token_hex(8)}"

    async def run(self) -> None:
        """Listen until cancelled; a session that is lost is opened again."""
        pause_s = AGAIN_S[0]
        try:
            while True:
                began = time.monotonic()
                try:
                    await self._listen()
                except (psycopg.Error, PoolTimeout, UnicodeError) as error:
                    self._fail(str(error).strip() or type(error).__name__)
                if time.monotonic() - began > AGAIN_S[1]:
                    pause_s = AGAIN_S[0]
                await asyncio.sleep(pause_s)
                pause_s = min(AGAIN_S[1], 2 * pause_s)
        finally:
            self.works, self.why = False, "nobody looks"

    async def _listen(self) -> None:
        """One session, until its notifications stop to arrive."""
        conn = await psycopg.AsyncConnection.connect(
            self._dsn,
            autocommit=True,
            application_name=APPLICATION,
            connect_timeout=CONNECT_S,
            client_encoding="utf8",
        )
        async with conn:
            for channel in (METRICS, CONTROL, EVENTS, self._echo):
                await conn.execute(sql.SQL("listen {}").format(sql.Identifier(channel)))
            while await self._hear_for(conn, ECHO_S[self.works]):
                pass
        self._fail("notifications do not arrive: does the address lead through a pooler?")

    async def _hear_for(self, conn: psycopg.AsyncConnection[Any], length_s: float) -> bool:
        """Hear for a while; whether the echo of its start came back."""
        echo = {"channel": self._echo}
        await self._database.rows(ECHO, echo, fresh_s=0.0)
        echoed = False
        async for note in conn.notifies(timeout=length_s):
            if note.channel == self._echo:
                echoed, self.works, self.why = True, True, ""
            else:
                await self._hear(note.channel, note.payload)
        return echoed

    def _fail(self, why: str) -> None:
        if self.works or self.why != why:
            log.warning("no notifications, so the page asks every second: %s", why)
        self.works, self.why = False, why


def sample(payload: str) -> tuple[str, str] | None:
    """The host and the figures of a sample, as JSON on one line; None for anything else.

    Everybody who can connect may notify, so nothing but numbers and the name is passed on.
    """
    try:
        given = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    if not isinstance(given, dict) or not isinstance(given.get("host"), str):
        return None
    figures: dict[str, Any] = {name: number(given.get(name)) for name in NUMBERS}
    figures["gpus"] = [
        {name: number(card.get(name)) for name in CARD_NUMBERS}
        for card in sequence(given.get("gpus"))[:MOST_CARDS]
        if isinstance(card, dict)
    ]
    return given["host"], json.dumps({"host": given["host"], **figures})


def number(value: Any) -> float | None:
    """A number as a sample has them; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < MOST else None  # not for NaN either
