"""The stream of a tab: names of what has changed, and samples of hosts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable

from starlette.responses import Response, StreamingResponse

from qwf_agent.web.reads.snapshot import Snapshot
from qwf_agent.web.site.access import Session

MOST_STREAMS = 3  # of a browser: it has six connections to a server, and pages need some of them
LONGEST_S = 300.0  # then it ends, and the tab opens another: a server that stops waits for streams
TICK_S = 5.0  # a tab that hears no tick for three of these asks by itself


async def stream(
    snapshot: Snapshot, session: Session, may_look: Callable[[], Awaitable[bool]]
) -> Response:
    """A stream of server-sent events, or 204 if this browser has enough of them.

    It ends with the session, when `qwf web` stops, and after LONGEST_S. Once a minute `may_look`
    says whether the person still may see the page.
    """
    if session.streams >= MOST_STREAMS:
        return Response(status_code=204)
    session.streams += 1
    return StreamingResponse(
        _events(snapshot, session, may_look),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _events(
    snapshot: Snapshot, session: Session, may_look: Callable[[], Awaitable[bool]]
) -> AsyncIterator[str]:
    try:
        yield "retry: 5000\n\n"
        ends_at = time.monotonic() + LONGEST_S
        changes = snapshot.changes()
        news = asyncio.ensure_future(anext(changes))
        try:
            while (left_s := ends_at - time.monotonic()) > 0:
                done, _ = await asyncio.wait({news}, timeout=min(TICK_S, left_s))
                if session.over or (session.rights_are_old and not await may_look()):
                    break
                if done:
                    try:
                        heard = news.result()
                    except StopAsyncIteration:  # the server stops
                        break
                    for sample in heard.samples.values():
                        yield f"event: sample\ndata: {sample}\n\n"
                    if heard.topics:
                        yield f"event: changed\ndata: {' '.join(sorted(heard.topics))}\n\n"
                    news = asyncio.ensure_future(anext(changes))
                else:
                    yield f"event: tick\ndata: {time.time():.0f}\n\n"
        finally:
            news.cancel()
            await asyncio.gather(news, return_exceptions=True)
            await changes.aclose()
    finally:
        session.streams -= 1
