"""Answers the requests of Prometheus with a text."""

from __future__ import annotations

import gzip
import ipaddress
import socket
import socketserver
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

FORMAT = "text/plain; version=0.0.4; charset=utf-8"


class Server(socketserver.ThreadingTCPServer):
    """Gives each request what `text` returns, whatever its path."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, family: int, address: tuple[str, int], text: Callable[[], str]) -> None:
        self.address_family = family
        self.text = text
        super().__init__(address, Scrape)


class Scrape(BaseHTTPRequestHandler):
    """A connection of Prometheus, which it keeps between scrapes."""

    protocol_version = "HTTP/1.1"
    server: Server
    timeout = 120  # seconds without a request
    disable_nagle_algorithm = True  # else the end of a long text waits 40 ms for the other side
    wbufsize = -1

    def do_GET(self) -> None:
        """Answer with the metrics; within the box compressing would take longer than sending."""
        body = self.server.text().encode()
        self.send_response(200)
        self.send_header("Content-Type", FORMAT)
        takes_gzip = "gzip" in self.headers.get("Accept-Encoding", "")
        if takes_gzip and not ipaddress.ip_address(self.client_address[0]).is_loopback:
            body = gzip.compress(body, 1)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Write nothing: there is a request every few seconds."""


def listen(host: str, port: int, text: Callable[[], str]) -> Server:
    """A server on this address; port 0: any. Raises OSError."""
    family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    return Server(family, (str(address[0]), int(address[1])), text)
