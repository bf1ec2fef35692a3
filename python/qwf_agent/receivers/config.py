"""The receivers of a box: the tables [receiver.NAME] of qwf.toml."""

from __future__ import annotations

import base64
import binascii
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import unquote, urlsplit

from qwf_agent.config import ConfigError, unknown_key

SEND = "qwf.send"  # the task
ALERTS_QUEUE = "qwf.alerts"  # an agent of this queue delivers messages
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,62}")
# Without what a mail program reads as a name, a comment, a quotation or an encoded word.
ADDRESS = re.compile(r'(?!.*=\?)[^\s@<>,;:"()\[\]\\]{1,64}@[^\s@<>,;:"()\[\]\\]{1,190}')
KEYS = {
    "hook": ("url", "secret-file", "format", "private"),
    "mail": ("smtp", "password-file", "to", "from", "answer", "tls", "ca-file"),
    "command": ("argv",),
    "ping": ("url", "private"),
}
FORMATS = ("json", "slack", "text")
LONGEST_SECRET = 4096
PREFIX = "whsec_"


@dataclass(frozen=True)
class Receiver:
    """One table. `url` is that of a hook or ping, `private`: it may be a host of the local network.
    `page` is the address of `qwf web`, for links; `answer`: each recipient gets a link to answer a
    question with. `tls`: mail goes out encrypted or not at all."""

    name: str
    kind: str
    url: str = ""
    secret_file: Path | None = None
    format: str = "json"
    private: bool = False
    smtp: str = ""
    password_file: Path | None = None
    to: tuple[str, ...] = ()
    sender: str = ""
    answer: bool = False
    tls: bool = True
    ca_file: Path | None = None
    argv: tuple[str, ...] = ()
    page: str = ""

    def secrets(self) -> list[bytes]:
        """The keys that sign a hook, the newest first: two while they are exchanged. Read anew each
        time. Raises ConfigError."""
        if self.secret_file is None:
            return []
        found = read_secret(self.secret_file, self.name, "secret-file").split()
        try:
            keys = [base64.b64decode(one.removeprefix(PREFIX), validate=True) for one in found]
        except binascii.Error:
            keys = []
        if not 1 <= len(keys) <= 2 or not all(24 <= len(key) <= 64 for key in keys):
            _fail(
                self.name,
                f"secret-file {self.secret_file}: one or two lines, each whsec_ and the base64 of"
                " 24 to 64 bytes",
            )
        return keys

    def password(self) -> str | None:
        """The password of the mail server, if it has one. Raises ConfigError."""
        if self.password_file is None:
            return None
        return read_secret(self.password_file, self.name, "password-file").strip("\r\n")


def read_receivers(tables: object, source: str = "qwf.toml") -> dict[str, Receiver]:
    """The receivers by name. Raises ConfigError for a table that says something wrong, and for a
    secret that others can read."""
    if not isinstance(tables, dict):
        raise ConfigError(f"{source}: receiver is not a table: write [receiver.ops]")
    receivers = {name: _read(name, table) for name, table in tables.items()}
    for receiver in receivers.values():
        receiver.secrets()
        receiver.password()
    return receivers


def _read(name: str, table: object) -> Receiver:
    if not NAME.fullmatch(name):
        _fail(name, "a name has letters, digits, - and _, a letter first")
    if not isinstance(table, dict):
        _fail(name, "not a table")
    kind = table.get("kind")
    if kind not in KEYS:
        _fail(name, f"kind has to be one of {', '.join(KEYS)}")
    for key in table:
        if key not in ("kind", "page", *KEYS[kind]):
            _fail(name, unknown_key(key, ("kind", "page", *KEYS[kind])))
    receiver = Receiver(
        name, kind,
        url=_text(name, table, "url"),
        secret_file=_file(name, table, "secret-file"),
        format=_text(name, table, "format", "json"),
        private=_flag(name, table, "private"),
        smtp=_text(name, table, "smtp"),
        password_file=_file(name, table, "password-file"),
        to=_texts(name, table, "to"),
        sender=_text(name, table, "from"),
        answer=_flag(name, table, "answer"),
        tls=_flag(name, table, "tls", True),
        ca_file=_file(name, table, "ca-file"),
        argv=_texts(name, table, "argv"),
        page=_text(name, table, "page"),
    )  # fmt: skip
    _check(receiver)
    return receiver


def _check(receiver: Receiver) -> None:
    name = receiver.name
    if receiver.page and urlsplit(receiver.page).scheme not in ("http", "https"):
        _fail(name, "page has to be the address of qwf web, such as https://box-a:5688/")
    if receiver.kind in ("hook", "ping"):
        scheme = urlsplit(receiver.url).scheme
        if scheme != "https" and not (scheme == "http" and receiver.private):
            _fail(name, "url has to begin with https://; http:// only with private = true")
        if receiver.format not in FORMATS:
            _fail(name, f"format has to be one of {', '.join(FORMATS)}")
    elif receiver.kind == "command":
        if not receiver.argv or not receiver.argv[0].startswith("/"):
            _fail(name, 'argv has to be a list such as ["/usr/local/bin/page"], with a whole path')
    else:
        _check_mail(receiver)


def _check_mail(receiver: Receiver) -> None:
    name = receiver.name
    try:
        server = urlsplit(receiver.smtp)
        usable = server.scheme in ("smtp", "smtps") and server.hostname and not server.password
        usable = usable and (server.port is None or server.port > 0)
    except ValueError:  # a port that is not a number, or brackets without an IPv6 address
        usable = None
    if not usable:
        _fail(
            name,
            "smtp has to be smtps://user@host, or smtp://host for STARTTLS; a password is in"
            " password-file",
        )
    if not _is_host(server.hostname or ""):
        _fail(name, f"smtp: {server.hostname} is not the name of a host")
    if not receiver.to:
        _fail(name, 'to has to be a list of addresses such as ["ada@example.org"]')
    for one in receiver.to:
        if not _is_address(one):
            _fail(name, f"to: {one!r} is not an address such as ada@example.org")
    if receiver.sender and not _is_address(receiver.sender):
        _fail(name, f"from: {receiver.sender!r} is not an address such as qwf@example.org")
    if receiver.password_file is not None and not (receiver.tls and server.username):
        _fail(name, "a password needs a user in smtp, and is not sent without TLS")
    if not receiver.tls and server.scheme == "smtps":
        _fail(name, "smtps:// is always encrypted: leave tls = false out")
    if receiver.answer and not receiver.page:
        _fail(name, "answer = true needs page, the address of qwf web")


def _is_address(text: str) -> bool:
    return ADDRESS.fullmatch(text) is not None and _is_host(text.rpartition("@")[2])


def _is_host(name: str) -> bool:
    try:
        return bool(name.encode("idna"))
    except UnicodeError:  # a dot too many, a part of more than 63 letters
        return False


def user_of(smtp: str) -> str:
    """The user in the address of a mail server."""
    return unquote(urlsplit(smtp).username or "")


def read_secret(file: Path, name: str, key: str) -> str:
    """The text of a file that only its owner can read; of root's, its group, too. Raises
    ConfigError."""
    try:
        with file.open(encoding="utf-8") as opened:
            found = os.fstat(opened.fileno())
            text = opened.read(LONGEST_SECRET)
    except (OSError, UnicodeDecodeError) as error:
        _fail(name, f"{key} {file}: {error}")
    group = 0 if found.st_uid == 0 else stat.S_IRWXG
    if found.st_mode & (stat.S_IRWXO | group):
        _fail(name, f"{key} {file}: others can read it (chmod 600)")
    if not text.strip():
        _fail(name, f"{key} {file}: empty")
    return text


def _text(name: str, table: dict[str, Any], key: str, default: str = "") -> str:
    value = table.get(key, default)
    if not isinstance(value, str) or "\n" in value:
        _fail(name, f"{key} has to be a text")
    return value


def _texts(name: str, table: dict[str, Any], key: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        _fail(name, f"{key} has to be a list of texts")
    return tuple(value)


def _flag(name: str, table: dict[str, Any], key: str, default: bool = False) -> bool:
    value = table.get(key, default)
    if not isinstance(value, bool):
        _fail(name, f"{key} has to be true or false")
    return value


def _file(name: str, table: dict[str, Any], key: str) -> Path | None:
    text = _text(name, table, key)
    return Path(text).expanduser() if text else None


def _fail(name: str, problem: str) -> NoReturn:
    raise ConfigError(f"[receiver.{name}] {problem}")
