"""One HTTP request that reaches only what it may: the name is resolved, the addresses are checked,
and the connection goes to an address that was checked. No redirect is followed, and no proxy of the
environment is used."""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

from qwf_agent.app.http_replies import LastReply, retry_after_s

TIMEOUT_S = 10.0
MOST_READ = 65536  # bytes of a reply
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
LOCAL_NAT64 = ipaddress.IPv6Network("64:ff9b:1::/48")
COMPATIBLE = ipaddress.IPv6Network("::/96")
# Where clouds tell a machine its secrets: Amazon, Google, Oracle, Alibaba, Azure. The others of
# them are link-local.
METADATA = tuple(map(ipaddress.ip_network, (
    "fd00:ec2::/32", "fd20:ce::/32", "192.0.0.192", "100.100.100.200", "168.63.129.16",
)))  # fmt: skip
# Networks that IANA has not made public, whatever the version of Python knows of them.
NOT_PUBLIC = tuple(map(ipaddress.ip_network, (
    "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
    "198.51.100.0/24", "203.0.113.0/24", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20",
    "5f00::/16", "fc00::/7", "fec0::/10",
)))  # fmt: skip
Ip = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
T = TypeVar("T")


class RequestRefused(Exception):
    """The request was not made, because of its address."""


class Unreachable(Exception):
    """There was no reply: a name that is not known now, a refused connection, a time-out."""


class HttpReply(NamedTuple):
    """The reply to a request; the text has at most 64 KiB."""

    status: int
    text: str
    retry_after_s: float | None = None


def request(
    method: str, url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None,
    private: bool = False, timeout_s: float = TIMEOUT_S,
) -> HttpReply:  # fmt: skip
    """Send a request and read the reply, all within `timeout_s`. Raises RequestRefused,
    Unreachable."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:  # brackets without an IPv6 address
        raise RequestRefused("not an address such as https://host/path") from None
    if parts.scheme not in ("https", "http") or not host or parts.username or parts.password:
        raise RequestRefused(
            "not an address such as https://host/path, without a user and a password"
        )
    if parts.scheme == "http" and not private:
        raise RequestRefused("https only; private = true allows http")
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        raise RequestRefused("no such port") from None
    ends = time.monotonic() + timeout_s
    address = checked_address(host, port, private, timeout_s)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection = http.client.HTTPConnection(host, port)
    connection.response_class = LastReply
    left_s = max(ends - time.monotonic(), 0.001)
    timer = threading.Timer(left_s, lambda: _cut(connection))
    timer.daemon = True
    timer.start()
    try:
        connection.sock = socket.create_connection((address, port), left_s)
        if parts.scheme == "https":  # the timer can cut it while it shakes hands
            connection.sock = ssl.create_default_context().wrap_socket(
                connection.sock, server_hostname=host, do_handshake_on_connect=False
            )
            connection.sock.do_handshake()
        connection.request(method, path, body, {"User-Agent": "qwf", **(headers or {})})
        answer = connection.getresponse()
        text = answer.read(MOST_READ).decode(errors="replace")
        if time.monotonic() >= ends:  # what was cut looks like the end of a reply
            raise TimeoutError
        return HttpReply(answer.status, text, retry_after_s(answer.getheader("Retry-After")))
    except (OSError, http.client.HTTPException, AttributeError, ValueError) as error:
        if isinstance(error, TimeoutError) or time.monotonic() >= ends:
            raise Unreachable(f"no reply from {host} within {timeout_s:g} s") from None
        # what is no reply of HTTP may repeat the request, and its path may be a secret
        said = str(error) if isinstance(error, OSError) else ""
        raise Unreachable(f"{host}: {said or type(error).__name__}") from None
    finally:
        timer.cancel()
        connection.close()


def within(timeout_s: float, act: Callable[[], T]) -> T:
    """The result of `act`. What asks a server of names has no time-out of its own, so it runs in a
    thread, which is left behind if it takes too long. Raises TimeoutError, and what `act`
    raises."""
    found: list[T] = []
    raised: list[Exception] = []

    def run() -> None:
        try:
            found.append(act())
        except Exception as error:
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(max(timeout_s, 0))
    if raised:
        raise raised[0]
    if not found:
        raise TimeoutError
    return found[0]


def checked_address(host: str, port: int, private: bool, timeout_s: float = TIMEOUT_S) -> str:
    """An address of the host. If one is refused, all are: which one is used would be chance.
    Raises RequestRefused, Unreachable."""
    try:
        found = within(timeout_s, lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    except TimeoutError:
        raise Unreachable(f"{host}: no server of names answered within {timeout_s:g} s") from None
    except (OSError, UnicodeError) as error:
        raise Unreachable(f"{host}: {error}") from None
    addresses = [str(one[4][0]).partition("%")[0] for one in found]
    for address in addresses:
        why = why_refused(address, private)
        if why is not None:
            raise RequestRefused(
                f"{host} is {why}" if host == address else f"{host} is {address}, {why}"
            )
    return addresses[0]


def why_refused(address: str, private: bool) -> str | None:
    """Why no request may go to the address; None: it may."""
    ip = _unwrap(ipaddress.ip_address(address))
    if ip is None:
        return "an address of a local translator"
    if ip.is_link_local or _in(ip, METADATA):
        return "a link-local address"
    if ip.is_multicast:
        return "a multicast address"
    if ip.is_loopback or (ip.is_private and not ip.is_unspecified and not ip.is_reserved):
        if private and not _is_zero(ip):
            return None
        return "a private address; private = true allows it"
    if ip.is_unspecified or ip.is_reserved or _is_zero(ip):
        return "a reserved address"
    if not ip.is_global or _in(ip, NOT_PUBLIC):
        return None if private else "a private address; private = true allows it"
    return None


def _in(ip: Ip, networks: Iterable[Network]) -> bool:
    return any(ip in network for network in networks)


def _is_zero(ip: Ip) -> bool:
    return ip.version == 4 and int(ip) >> 24 == 0


def _unwrap(ip: Ip) -> Ip | None:
    """The IPv4 address that an IPv6 address leads to, else the address; None if that is not
    known."""
    while isinstance(ip, ipaddress.IPv6Address):
        if ip in LOCAL_NAT64:
            return None
        if ip in NAT64 or (ip in COMPATIBLE and int(ip) > 1):
            return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo and ip.teredo[1])
        if not inner:
            return ip
        ip = inner
    return ip


def _cut(connection: http.client.HTTPConnection) -> None:
    """End a request that takes too long, wherever it is."""
    try:
        if connection.sock is not None:
            connection.sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
