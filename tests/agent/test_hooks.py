"""The guard of requests to addresses of other people."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from qwf_agent import hooks
from qwf_agent.app import PermanentError, TemporaryError
from qwf_agent.hooks import guarded_http
from support.letterbox import http_server

NEVER = [
    "169.254.169.254", "fe80::1", "224.0.0.1", "ff02::1", "0.0.0.0", "0.1.2.3", "255.255.255.255",
    "240.0.0.1", "::", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:a9fe:a9fe::", "fd00:ec2::254",
    "::ffff:169.254.169.254", "::169.254.169.254", "168.63.129.16", "100.100.100.200",
    "192.0.0.192", "::ffff:192.0.0.192", "fd20:ce::254", "fd00:ec2::23", "::ffff:0:7f00:1",
    "2001:0:4136:e378:8000:63bf:5601:5601",
]  # fmt: skip
PRIVATE = [
    "127.0.0.1", "::1", "10.0.0.7", "192.168.1.1", "172.16.0.1", "fd00::1", "100.64.0.1",
    "64:ff9b::7f00:1", "2002:7f00:1::", "::ffff:10.0.0.1", "::127.0.0.1",
    "192.0.0.9", "192.88.99.1", "198.18.0.1", "203.0.113.1", "fec0::1", "3fff::1", "2001:20::1",
    "2001:0:4136:e378:8000:63bf:f5ff:fff8",
]  # fmt: skip
PUBLIC = ["93.184.216.34", "2606:4700::1111", "64:ff9b::5db8:d822", "2002:5db8:d822::"]


@pytest.mark.parametrize("address", NEVER)
def test_no_option_reaches_a_link_local_multicast_or_reserved_address(address: str) -> None:
    """Nor one that is wrapped in IPv6, nor where clouds keep secrets."""
    assert guarded_http.why_refused(address, private=False)
    assert guarded_http.why_refused(address, private=True)


@pytest.mark.parametrize("address", PRIVATE)
def test_a_private_address_needs_private(address: str) -> None:
    """However it is written."""
    assert "private = true" in str(guarded_http.why_refused(address, private=False))
    assert guarded_http.why_refused(address, private=True) is None


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_reached(address: str) -> None:
    """Also by way of a translator."""
    assert guarded_http.why_refused(address, private=False) is None


def test_a_name_that_resolves_anew_is_connected_to_as_it_was_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The name is resolved once: a server of names that changes its answer gains nothing."""
    asked = []
    real = socket.getaddrinfo

    def resolve(host: str, port: Any, *args: Any, **more: Any) -> Any:
        if host == "rebind.example":
            asked.append(host)
            host = "127.0.0.1" if len(asked) == 1 else "169.254.169.254"
        return real(host, port, *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with http_server() as posts:
        url = posts.url.replace("127.0.0.1", "rebind.example")
        hooks.post(url, {"x": 1}, private=True)
        assert posts.got[0].headers["host"] == f"rebind.example:{posts.port}"
    assert len(asked) == 1
    with pytest.raises(PermanentError, match="link-local"):
        hooks.post(url, {"x": 1}, private=True)


def test_what_is_no_web_address_is_refused() -> None:
    """Other schemes, users in the address, http to the world."""
    for url in (
        "file:///etc/passwd",
        "https://a:b@example.org/",
        "http://example.org/",
        "gopher://x",
    ):
        with pytest.raises(PermanentError):
            hooks.post(url, {})
    with pytest.raises(PermanentError, match="private address"):
        hooks.post("https://localhost/", {})
    with pytest.raises(PermanentError, match=r"^169.254.169.254 is a link-local address"):
        hooks.post("https://169.254.169.254/", {})
    for host in ("0x7f.1", "2130706433", "0177.0.0.1", "0", "127。0。0。1", "[::ffff:7f00:1]"):
        with pytest.raises(PermanentError, match=r"private address|reserved address"):
            hooks.post(f"https://{host}/", {})
    for host in ("[127.0.0.1]", "[::1", "x:99999", ""):
        with pytest.raises(PermanentError):
            hooks.post(f"https://{host}/", {})


@pytest.mark.parametrize(
    ("status", "kind"),
    [(408, TemporaryError), (425, TemporaryError), (429, TemporaryError), (500, TemporaryError),
     (503, TemporaryError), (400, PermanentError), (404, PermanentError), (301, PermanentError)],
)  # fmt: skip
def test_a_status_says_whether_another_try_may_help(status: int, kind: type[Exception]) -> None:
    """429 says when."""
    with http_server() as posts:
        posts.answers = [(status, {"Retry-After": "7", "Location": "http://169.254.169.254/"})]
        with pytest.raises(kind) as raised:
            hooks.post(posts.url, b"x", private=True)
        assert len(posts.got) == 1
    if status == 429:
        assert raised.value.retry_after_s == 7  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        ("1800", 1800, 1800), ("604800", 604800, 604800), ("1800.5", 1800.5, 1800.5),
        ("%a, %d %b %Y %H:%M:%S GMT", 600_000, 604_800),
        ("%a, %d %b %Y %H:%M:%S -0000", 600_000, 604_800),
        ("%A, %d-%b-%y %H:%M:%S GMT", 600_000, 604_800),
        ("%a %b %e %H:%M:%S %Y", 600_000, 604_800),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0), ("-5", 0, 0), ("nan", None, None),
        ("inf", None, None), ("soon", None, None), ("", None, None),
        ("Mon, 32 Jan 2030 00:00:00 GMT", None, None),
    ],
)  # fmt: skip
def test_the_other_side_says_in_seconds_or_by_a_date_when_to_come_back(
    header: str, least: float | None, most: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A week, too: nothing is cut to an hour. The old forms of dates name no zone and mean GMT."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    in_a_week = datetime.now(timezone.utc) + timedelta(days=7)
    with http_server() as posts:
        posts.answers = [(429, {"Retry-After": in_a_week.strftime(header)})]
        with pytest.raises(TemporaryError) as raised:
            hooks.post(posts.url, b"x", private=True)
    monkeypatch.undo()
    time.tzset()
    wait_s = raised.value.retry_after_s
    assert wait_s is None if least is None or most is None else least <= (wait_s or 0) <= most


def test_what_comes_before_the_last_reply_is_not_the_reply() -> None:
    """103 Early Hints, 102 Processing and 100 Continue, each with headers of its own."""
    with http_server() as posts:
        posts.early = b"".join(
            b"HTTP/1.1 %d x\r\nLink: </x>\r\nRetry-After: 9\r\n\r\n" % status
            for status in (103, 100, 102, 103)
        )
        assert hooks.post(posts.url, b"x", private=True).status == 200
        posts.answers = [(503, {"Retry-After": "7"}), (404, {})]
        with pytest.raises(TemporaryError) as raised:
            hooks.post(posts.url, b"x", private=True)
        assert raised.value.retry_after_s == 7
        with pytest.raises(PermanentError, match="404"):
            hooks.post(posts.url, b"x", private=True)


def test_a_server_that_sends_a_letter_a_second_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time is that of the whole request."""
    monkeypatch.delenv("http_proxy", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=drip, args=(server,), daemon=True).start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        began = time.monotonic()
        with pytest.raises(TemporaryError, match=r"within 0\.5 s"):
            hooks.post(url, {}, private=True, timeout_s=0.5)
        assert time.monotonic() - began < 5


def test_a_server_of_names_that_does_not_answer_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The time of a request is that of its name, too. The others wait for no such name."""
    answer = threading.Event()
    real = socket.getaddrinfo

    def resolve(host: str, *args: Any, **more: Any) -> Any:
        if host == "slow.example":
            answer.wait(60)
        return real("127.0.0.1" if host == "slow.example" else host, *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    began = time.monotonic()
    with http_server() as posts:
        slow = posts.url.replace("127.0.0.1", "slow.example")
        with pytest.raises(TemporaryError, match=r"slow\.example: no server of names answered"):
            hooks.post(slow, {}, private=True, timeout_s=0.3)
        hooks.post(posts.url, {}, private=True)
        answer.set()
        assert time.monotonic() - began < 10
        assert len(posts.got) == 1, "an answer that comes late is not used"


def drip(server: socket.socket) -> None:
    """Answer with headers that never end."""
    one, _ = server.accept()
    with one, contextlib.suppress(OSError):
        one.sendall(b"HTTP/1.1 200 OK\r\nX: ")
        while True:
            one.sendall(b"a")
            time.sleep(0.05)


@pytest.mark.parametrize(
    "reply",
    [None, b"\0" * 70_000, b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200, b"HTTP/1.1 abc\r\n\r\n"],
)
def test_an_error_repeats_nothing_of_the_request(reply: bytes | None) -> None:
    """The path of a hook is often its secret: a server that sends it back (None), or no reply of
    HTTP, brings it into no error."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            one, _ = server.accept()
            with one:
                got = one.recv(65536)
                one.sendall(got if reply is None else reply)

        threading.Thread(target=answer, daemon=True).start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/T0KEN"
        with pytest.raises(TemporaryError) as raised:
            hooks.post(url, {"body": "T0KEN"}, private=True)
        assert "T0KEN" not in str(raised.value)
        assert len(str(raised.value)) < 200
    with http_server() as posts:
        posts.answers = [(404, {})]
        with pytest.raises(PermanentError) as fatal:
            hooks.post(posts.url.replace("/hook", "?key=T0KEN"), {}, private=True)
        assert str(fatal.value) == f"404 from 127.0.0.1:{posts.port}"


@pytest.mark.parametrize("name", ["webhook-id", "X-Own"])
def test_no_line_break_gets_into_the_headers(name: str) -> None:
    """Of what a caller passes on, such as an id of a customer."""
    with http_server() as posts:
        evil = "1\r\nX-Evil: yes"
        more: dict[str, Any] = {"id": evil} if name == "webhook-id" else {"headers": {name: evil}}
        with pytest.raises(TemporaryError):
            hooks.post(posts.url, {}, b"k" * 24, private=True, **more)
        assert posts.got == []


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the proxy would choose the address."""
    with http_server() as posts, http_server() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        hooks.post(posts.url, {}, private=True)
        assert len(posts.got) == 1
        assert proxy.got == []
