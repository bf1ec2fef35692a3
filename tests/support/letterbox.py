"""A mail server and an HTTP server on loopback, for tests of what alerts send."""

from __future__ import annotations

import asyncio
import contextlib
import email
import email.message
import email.policy
import json
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

PASSWORD = "s3cret"


class Mails:
    """The mails that the server has taken. `answers` are its next replies to a mail, `drop` is how
    often it takes a mail and dies before it answers."""

    def __init__(self) -> None:
        self.taken: list[email.message.EmailMessage] = []
        self.raw: list[bytes] = []
        self.login = ("qwf", PASSWORD)
        self.to: list[list[str]] = []
        self.answers: list[str] = []
        self.drop = 0
        self.refusal: str | None = None  # what the server says to every password
        self.refused: dict[str, str] = {}  # what it says to a recipient
        self.at_quit = "221 Bye"
        self.holds = threading.Event()  # while it is set, it answers to no recipient
        self.asked = 0  # recipients

    async def handle_QUIT(self, _server: Any, _session: Any, _envelope: Any) -> str:
        return self.at_quit

    async def handle_RCPT(
        self, _server: Any, _session: Any, envelope: Any, address: str, _options: Any
    ) -> str:
        self.asked += 1
        while self.holds.is_set():  # noqa: ASYNC110 a thread sets it
            await asyncio.sleep(0.01)
        if address in self.refused:
            return self.refused[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, _session: Any, envelope: Any) -> str:
        if self.answers:
            return self.answers.pop(0)
        found = email.message_from_bytes(envelope.content, policy=email.policy.default)
        assert isinstance(found, email.message.EmailMessage)
        self.taken.append(found)
        self.raw.append(envelope.content)
        self.to.append(envelope.rcpt_tos)
        if self.drop:
            self.drop -= 1
            server.transport.abort()
        return "250 OK"


class Post(NamedTuple):
    path: str
    headers: dict[str, str]
    body: bytes


class Posts:
    """The requests that the HTTP server has got, and its next replies: a status with headers."""

    def __init__(self) -> None:
        self.got: list[Post] = []
        self.answers: list[tuple[int, dict[str, str]]] = []
        self.early = b""  # what it says before each
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for localhost, which signs itself, and its key."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",  # noqa: E501
         "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost"],
        check=True, capture_output=True,
    )  # fmt: skip
    return cert, key


def configure(folder: Path, text: str) -> None:
    """Write the qwf.toml of a box, which nobody else may read: it may hold secrets."""
    (folder / "qwf.toml").write_text(text)
    (folder / "qwf.toml").chmod(0o600)


def mail_receiver(name: str, port: int, *to: str) -> str:
    """The part of a qwf.toml for a receiver of mail, at a server of ours without TLS."""
    return f"""
[receiver.{name}]
kind = "mail"
smtp = "smtp://127.0.0.1:{port}"
tls = false
to = {json.dumps(to)}
"""


@contextlib.contextmanager
def mail_server(
    folder: Path, tls: bool = True, without: tuple[str, ...] = (), utf8: bool = True
) -> Iterator[tuple[Mails, int, Path]]:
    """A mail server: what it has taken, its port, and its certificate. With `tls` it wants STARTTLS
    and the password of the user qwf; it offers AUTH without these mechanisms, and SMTPUTF8."""
    mails = Mails()
    cert, key = certificate(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)

    def login(_server: Any, _session: Any, _envelope: Any, _kind: str, data: Any) -> AuthResult:
        if mails.refusal is not None:
            return AuthResult(success=False, handled=False, message=mails.refusal)
        known = LoginPassword(mails.login[0].encode(), mails.login[1].encode())
        good = isinstance(data, LoginPassword) and data == known
        return AuthResult(success=good, handled=good)

    options: dict[str, Any] = {"enable_SMTPUTF8": utf8, "auth_exclude_mechanism": without}
    if tls:
        options |= {"authenticator": login, "tls_context": context}
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    controller = Controller(
        mails, hostname="127.0.0.1", port=port, auth_required=tls, require_starttls=tls, **options
    )
    controller.start()
    try:
        yield mails, port, cert
    finally:
        controller.stop()


@contextlib.contextmanager
def http_server(port: int = 0) -> Iterator[Posts]:
    """A web server that keeps what it gets."""
    posts = Posts()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            posts.got.append(Post(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            self.wfile.write(posts.early)
            status, headers = posts.answers.pop(0) if posts.answers else (200, {})
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_POST

        def log_message(self, *_args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    posts.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield posts
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def slow_server(first: bytes) -> Iterator[int]:
    """A server that says this, then a letter now and then, without an end; its port."""

    def talk(server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            one, _ = server.accept()
            with one:
                one.sendall(first)
                while True:
                    one.sendall(b"2")
                    time.sleep(0.05)

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=talk, args=(server,), daemon=True).start()
        yield server.getsockname()[1]
