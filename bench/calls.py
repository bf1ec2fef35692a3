"""A task that makes one HTTP call, and the web server that it calls."""

from __future__ import annotations

import asyncio
import contextlib
import socket

from qwf_agent import App

app = App()
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


@app.task("call", concurrency=200)
async def call(port: int, path: str = "/") -> dict[str, int]:
    """Get the page, over a connection of its own; returns the status."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        answer = await reader.read()
    finally:
        writer.close()
    return {"status": int(answer.split(b" ", 2)[1])}


def serve(_index: int, listening: socket.socket, seconds: float) -> None:
    """Answer every call after this many seconds, but never answer /never."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            asked = await reader.readuntil(b"\r\n\r\n")
            await asyncio.sleep(3600 if asked.startswith(b"GET /never") else seconds)
            writer.write(ANSWER)
            await writer.drain()
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(answer, sock=listening, backlog=1000)
        await server.serve_forever()

    asyncio.run(run())
