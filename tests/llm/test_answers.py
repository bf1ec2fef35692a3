"""The client understands answers that a healthy llama.cpp does not give: a fake server says
them. Only what the servers' documents say stands here."""

from __future__ import annotations

import contextlib
import http.server
import json
import ssl
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from qwf_agent import PermanentError, TemporaryError
from qwf_agent.llm.client import ServedModel
from qwf_agent.llm.errors import InvalidReply, Refused, ServerFailed, ServerLost

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
CERTIFICATE = Path(__file__).with_name("localhost.pem")  # and its key: of this test alone
STOP = {"choices": [{"delta": {}, "finish_reason": "stop"}]}


@dataclass
class Answer:
    """A status, headers and parts of a body, sent one after the other. The connection ends after
    them."""

    parts: list[bytes] = field(default_factory=list)
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Fake:
    """A server that gives the next of its answers to each request, and keeps the requests."""

    url: str = ""
    answers: list[Answer] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)

    def model(self, **options: Any) -> ServedModel:
        return ServedModel("fake", self.url, **options)


def stream(*texts: str, last: dict[str, Any] = STOP) -> Answer:
    deltas = [{"choices": [{"delta": {"content": text}}]} for text in texts]
    return Answer([event(value) for value in [*deltas, last]] + [b"data: [DONE]\n\n"])


def event(value: Any) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def refusal(status: int, text: str, **headers: str) -> Answer:
    return Answer([text.encode()], status, {n.replace("_", "-"): v for n, v in headers.items()})


def handler_of(fake: Fake) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            fake.requests.append({"path": self.path, **json.loads(body)})
            fake.keys.append(self.headers.get("Authorization"))
            answer = fake.answers.pop(0)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            for part in answer.parts:
                self.wfile.write(part)
                self.wfile.flush()

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@contextlib.contextmanager
def running(fake: Fake, secure: ssl.SSLContext | None = None) -> Iterator[Fake]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler_of(fake))
    if secure is not None:
        server.socket = secure.wrap_socket(server.socket, server_side=True)
    fake.url = f"http{'s' if secure else ''}://localhost:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=[0.01])
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def fake() -> Iterator[Fake]:
    with running(Fake()) as started:
        yield started


def tomorrow() -> str:
    return formatdate(time.time() + 86400, usegmt=True)


# Errors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 503, 408])
@pytest.mark.parametrize(("header", "wait"), [("7", 7.0), ("0.5", 0.5), (None, None), ("?", None)])
def test_a_busy_server_is_asked_again_when_it_says(
    fake: Fake, status: int, header: str | None, wait: float | None
) -> None:
    fake.answers = [refusal(status, "busy", **({"Retry_After": header} if header else {}))]
    with pytest.raises(TemporaryError, match=f"answered {status}: busy") as caught:
        fake.model().chat("hello")
    assert caught.value.retry_after_s == wait


def test_a_busy_server_may_name_a_date(fake: Fake) -> None:
    fake.answers = [refusal(429, "busy", Retry_After=tomorrow())]
    with pytest.raises(TemporaryError) as caught:
        fake.model().chat("hello")
    assert 80_000 < (caught.value.retry_after_s or 0) <= 86_400


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 501])
def test_a_refusal_is_final(fake: Fake, status: int) -> None:
    fake.answers = [refusal(status, json.dumps({"error": {"message": "no such model"}}))]
    with pytest.raises(PermanentError, match=f"answered {status}: no such model$"):
        fake.model().chat("hello")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"error": "model not found"}', "model not found"),
        ('{"detail": "not here"}', "not here"),
        ('{"object": "error", "message": "too long"}', "too long"),
        ("plain text\n", "plain text"),
        ("[1]", r"\[1\]"),
        ("{}", r"\{\}"),
        ("x" * 5000, "x{2000}"),
    ],
)
def test_the_text_of_a_server_is_found(fake: Fake, text: str, said: str) -> None:
    fake.answers = [refusal(400, text)]
    with pytest.raises(Refused, match=f"answered 400: {said}$"):
        fake.model().chat("hello")


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (502, "bad gateway"),
        (504, "timeout"),
        (500, "EngineDeadError: EngineCore encountered an issue"),
    ],
)
def test_a_server_behind_which_nothing_runs_is_lost(fake: Fake, status: int, text: str) -> None:
    fake.answers = [refusal(status, text)]
    with pytest.raises(ServerLost, match=f"answered {status}: "):
        fake.model().chat("hello")


def test_a_server_that_fails_is_an_error(fake: Fake) -> None:
    fake.answers = [refusal(500, "out of ideas")]
    with pytest.raises(ServerFailed, match="answered 500: out of ideas"):
        fake.model().chat("hello")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": 400, "message": "the context is full"}, Refused),
        ({"code": 503, "message": "the context is full"}, TemporaryError),
        ({"message": "the context is full"}, ServerFailed),
        ("the context is full", ServerFailed),
    ],
)
def test_an_error_within_a_stream_is_that_error(
    fake: Fake, error: object, kind: type[Exception]
) -> None:
    fake.answers = [stream("one", last={"error": error})]
    with pytest.raises(kind, match="the context is full"):
        fake.model().chat("hello")


def test_an_answer_without_its_end_is_a_lost_server(fake: Fake) -> None:
    fake.answers = [Answer([event({"choices": [{"delta": {"content": "one"}}]})])]
    with pytest.raises(ServerLost, match="closed the connection within an answer"):
        fake.model().chat("hello")


@pytest.mark.parametrize("body", [b"{}", b"", b"data: [1]\n\n", b"data: {\n\n"])
def test_what_is_no_stream_of_events_is_an_error(fake: Fake, body: bytes) -> None:
    fake.answers = [Answer([body])]
    with pytest.raises(ServerFailed):
        fake.model().chat("hello")


def test_vectors_that_are_none_are_an_error(fake: Fake) -> None:
    wrong = [b"", b"[]", b'{"data": []}', b'{"data": [{"index": 0, "embedding": "x"}]}']
    fake.answers = [Answer([body]) for body in wrong]
    for _ in wrong:
        with pytest.raises(ServerFailed, match="no vector for each text"):
            fake.model().embed(["hello"])


# Requests ----------------------------------------------------------------------------------------


def test_the_request_is_that_of_the_protocol(fake: Fake) -> None:
    fake.answers = [stream("hi"), stream("hi")]
    fake.model(api_key="secret").chat("hello", max_tokens=7, temperature=0.5, stop=["x"])
    fake.model().chat([{"role": "user", "content": "hello"}])
    shared = {
        "path": "/v1/chat/completions", "model": "fake", "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [{"role": "user", "content": "hello"}],
    }  # fmt: skip
    assert fake.requests == [
        {**shared, "max_tokens": 7, "temperature": 0.5, "stop": ["x"]},
        shared,
    ]
    assert fake.keys == ["Bearer secret", None]


# Answers -----------------------------------------------------------------------------------------


def test_an_event_may_come_in_pieces(fake: Fake) -> None:
    whole = b"".join(stream("ä", "b").parts).replace(b"\n", b"\r\n")
    fake.answers = [Answer([whole[at : at + 3] for at in range(0, len(whole), 3)])]
    assert fake.model().chat("hello").text == "äb"


def test_thoughts_are_in_the_log_and_not_in_the_answer(
    fake: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    thought = {"choices": [{"delta": {"reasoning_content": "hm. ", "content": None}}]}
    answer = stream("yes")
    fake.answers = [Answer([event(thought), b": ping\n\n", *answer.parts])]
    reply = fake.model().chat("hello")
    assert (reply.text, capsys.readouterr().out) == ("yes", "hm. yes\n")


def test_text_that_postgres_cannot_store_is_replaced(
    fake: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.answers = [stream("a\0b", "\ud83d", "\ude00", "\udc00")]
    assert fake.model().chat("hello").text == "ab😀\ufffd"
    assert capsys.readouterr().out.startswith("ab")
    fake.answers = [stream('{"n": 1, "a\\u0000b": ["c\\u0000"]}')]
    assert fake.model().chat("hello", SCHEMA).json == {"n": 1, "ab": ["c"]}


def test_counts_are_numbers_alone(fake: Fake) -> None:
    usage = {"completion_tokens": 1, "more": {"cached": 2, "x": "y"}, "z": None, "cost": 0.5}
    answer = stream("hi")
    answer.parts.insert(-1, event({"choices": [], "usage": usage}))
    fake.answers = [answer]
    counted = {"completion_tokens": 1, "more": {"cached": 2}, "cost": 0.5}
    assert fake.model().chat("hello").usage == counted


def test_an_answer_that_does_not_fit_is_repaired_once(fake: Fake) -> None:
    usage = {"choices": [], "usage": {"completion_tokens": 3, "more": {"cached": 1}}}
    fake.answers = [stream('{"n": "one"}'), stream('{"n": 1}')]
    for answer in fake.answers:
        answer.parts.insert(-1, event(usage))
    reply = fake.model().chat("hello", SCHEMA)
    assert reply.json == {"n": 1}
    assert reply.usage == {"completion_tokens": 6, "more": {"cached": 2}}
    assert fake.requests[0]["response_format"]["json_schema"]["schema"] == SCHEMA
    asked, answered, repair = fake.requests[1]["messages"]
    assert asked == {"role": "user", "content": "hello"}
    assert answered == {"role": "assistant", "content": '{"n": "one"}'}
    assert "$.n must be of type integer, not string" in repair["content"]


@pytest.mark.parametrize("text", ["no JSON", '{"m": 1}', '{"n": NaN}', '{"n": 1e999}', "[" * 9999])
def test_an_answer_that_does_not_fit_twice_is_an_error(fake: Fake, text: str) -> None:
    fake.answers = [stream(text), stream(text)]
    with pytest.raises(InvalidReply, match="the answer does not fit the schema: "):
        fake.model().chat("hello", SCHEMA)


# Connections -------------------------------------------------------------------------------------


def test_a_server_may_be_behind_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    large = "x" * 200_000  # several records, and more than a buffer of the system takes
    with running(Fake(answers=[stream(large, "y")]), context) as fake:
        with pytest.raises(ServerLost, match="CERTIFICATE_VERIFY_FAILED"):
            fake.model().chat("hello")
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        assert fake.model().chat("z" * 5_000_000).text == large + "y"
