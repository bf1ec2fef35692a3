"""Operators load, pull and unload models of an ollama server. The server is a fake."""

from __future__ import annotations

import selectors
import signal
import ssl
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo

from qwf_agent.servers.ollama import ModelCall
from qwf_agent.servers.probe import ServerPlace
from support.harness import DEADLINE_S, Database, StartAgent, until
from support.ollama import FakeOllama, ollama
from support.proxy import proxy_to
from support.served import request, server, state

ASK = "select qwf.request_model('box', 'llm', %s, %s)"
MODELS = "select models from qwf.workers where stopped_at is null"
LOOK = "select progress, answered_at, error from qwf.model_requests where id = %s"
CERTIFICATE = Path(__file__).parents[1] / "llm" / "localhost.pem"
PULLED = ("/api/pull", {"model": "gemma", "stream": True})
LOADED = ("/api/generate", {"model": "gemma", "stream": False})


def external(configure: Any, fake: FakeOllama, *models: str, **keys: Any) -> None:
    configure("ollama", kind="ollama", url=fake.url, models=models, **keys)


def ask(base: Database, model: str) -> int:
    """A job with one request, by the client of our own."""
    return base.enqueue("llm", {"prompt": "says"}, queue="llm", model=model)


def begun(base: Database, model: str = "gemma") -> int:
    """An order to load a model whose pull is under way."""
    number = int(base.one(ASK, model, "load"))
    wanted = "pulling: 43 %, 1.2 of 2.8 GB"
    until(lambda: base.one(LOOK, number) == wanted, "the progress of the pull")
    return number


def answer(base: Database, number: int) -> Any:
    """The error of an order, when it is answered."""
    answered = f"select answered_at is not null from ({LOOK}) r"
    until(lambda: base.one(answered, number), "the answer")
    return base.one(f"select error from ({LOOK}) r", number)


def test_a_missing_model_is_pulled_loaded_and_then_announced(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    with ollama(tmp_path / "models", "qwen") as fake:
        external(configure, fake, "qwen", "gemma", pull=True)
        start()
        until(lambda: base.one(MODELS) == ["qwen"], "the model that is there")
        job = ask(base, "gemma")
        said = "gemma is not pulled yet: qwf worker load gemma --host box"
        until(lambda: server(base, "ollama")["error"] == said, "what to do")
        why = base.one("select string_agg(w, ' ') from qwf.why_not(%s) w", job)
        assert f"its server ollama could serve gemma, but {said}" in why
        number = begun(base)
        assert base.ended(ask(base, "qwen"))["status"] == "completed", "others go on meanwhile"
        assert base.one(MODELS) == ["qwen"]
        fake.finish.set()
        assert answer(base, number) is None
        assert base.ended(job)["status"] == "completed"
        found = until(lambda: (now := server(base, "ollama"))["model"] and now, "what is loaded")
        assert (found["model"], found["error"], found["lacks"]) == ("gemma", None, {})
    assert [one for one in fake.asked if one[0].startswith("/api")] == [PULLED, LOADED]


def test_a_model_may_have_another_name_at_its_server(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    with ollama(tmp_path / "models", "qwen") as fake:
        external(configure, fake, "captioner", pull=True)
        with (tmp_path / "qwf.toml").open("a") as config:
            config.write('served_as = "gemma"\n')
        start()
        said = "gemma is not pulled yet: qwf worker load captioner --host box"
        until(lambda: server(base, "ollama").get("error") == said, "what to do")
        fake.finish.set()
        assert request(base, "load", "captioner")["error"] is None
        job = base.ended(ask(base, "captioner"))
        assert job["status"] == "completed"
        found = until(lambda: (now := server(base, "ollama"))["model"] and now, "what is loaded")
        assert (found["model"], found["error"], found["lacks"]) == ("captioner", None, {})
        assert request(base, "unload", "captioner")["error"] is None
    assert {body["model"] for _, body in fake.asked} == {"gemma"}


def test_a_model_that_is_there_is_loaded_and_unloaded(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    with ollama(tmp_path / "models", "gemma", "embedding") as fake:
        external(configure, fake, "gemma", "embedding")
        start()
        until(lambda: base.one(MODELS) == ["embedding", "gemma"], "the models")
        assert request(base, "load", "gemma")["error"] is None
        assert request(base, "load", "embedding")["error"] is None
        assert fake.loaded == ["embedding", "gemma"]
        assert request(base, "unload", "gemma")["error"] is None
        assert fake.loaded == ["embedding"]
        until(lambda: server(base, "ollama")["model"] == "embedding", "what is loaded")
        request(base, "unload", None)
        until(lambda: not fake.loaded, "all to be unloaded")
        assert base.one(MODELS) == ["embedding", "gemma"], "they can be had again"


@pytest.mark.parametrize("policy", ["drain", "hard"])
def test_switching_off_frees_an_ollama_at_an_address(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path, policy: str
) -> None:
    with ollama(tmp_path / "models", "gemma", "embedding") as fake:
        external(configure, fake, "gemma", "embedding")
        start()
        until(lambda: base.one(MODELS) == ["embedding", "gemma"], "the models")
        for model in ("gemma", "embedding"):
            assert request(base, "load", model)["error"] is None
        until(lambda: server(base, "ollama")["model"], "what is loaded to be known")
        base.one("select qwf.worker_control('box', 'llm', 'off', %s)", policy)
        until(lambda: not fake.loaded, "all to be unloaded")
        base.one("select qwf.worker_control('box', 'llm', 'on')")
        assert base.ended(ask(base, "gemma"))["status"] == "completed"
    unloads = [body["model"] for _, body in fake.asked if body.get("keep_alive") == 0]
    assert sorted(unloads) == ["embedding", "gemma"], "each once"


def test_without_pull_nothing_is_pulled(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    with ollama(tmp_path / "models") as fake:
        external(configure, fake, "gemma")
        start()
        state(base, "ready", "ollama")
        said = "it does not serve gemma: run `ollama pull gemma` on the box, or set pull = true"
        assert request(base, "load", "gemma")["error"] == said
        (fake.folder / "gemma").touch()
        until(lambda: base.one(MODELS) == ["gemma"], "a pull by hand to be seen")
    assert fake.asked == []


def test_a_pull_that_ollama_refuses(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    with ollama(tmp_path / "models") as fake:
        external(configure, fake, "unknown", pull=True)
        start()
        state(base, "ready", "ollama")
        error = request(base, "load", "unknown")["error"]
    assert error.startswith("cannot pull unknown: pull model manifest: file does not exist; ")


@pytest.mark.parametrize(
    "how", ["unloaded", "switched off", "agent stopped", "agent killed", "server gone"]
)
def test_a_pull_ends_with_what_it_needs(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path, how: str
) -> None:
    with ollama(tmp_path / "models") as fake:
        external(configure, fake, "gemma", pull=True)
        agent = start()
        state(base, "ready", "ollama")
        number = begun(base)
        if how == "unloaded":
            assert request(base, "unload", "gemma")["error"] is None
            said = "it was ordered to be unloaded meanwhile"
        elif how in ("switched off", "agent stopped"):
            if how == "agent stopped":
                agent.signal(signal.SIGTERM)
            else:
                base.one("select qwf.worker_control('box', 'llm', 'off', 'drain')")
            said = "the worker is switched off or stops; order it again when it is on"
        elif how == "agent killed":
            agent.signal(signal.SIGKILL)
            assert fake.cancelled.wait(DEADLINE_S)
            return
        else:
            fake.dies()
            said = (
                "cannot pull gemma: the answer was cut off; order it again: it goes on where it was"
            )
        assert answer(base, number) == said
        assert how == "server gone" or fake.cancelled.wait(DEADLINE_S)
        assert base.one(LOOK, number) == "pulling: 43 %, 1.2 of 2.8 GB", "the last report stays"


def test_a_server_of_our_own_is_started_for_a_pull_and_stays_until_it_is_done(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    support = str(Path(__file__).parents[1])
    command = ("env", f"PYTHONPATH={support}", sys.executable, "-m", "support.ollama",
               "{port}", str(folder))  # fmt: skip
    configure("ollama", kind="ollama", command=command, models=("gemma",), pull=True)
    start()
    until(lambda: base.one(MODELS) == ["gemma"], "a model that may be there")
    job = ask(base, "gemma")
    until(lambda: base.one(MODELS) == [], "it to be found missing")
    until(lambda: base.job(job)["status"] == "queued", "the job to be given back")
    assert request(base, "load", "gemma")["error"] is None
    assert base.ended(job)["status"] == "completed"
    assert server(base, "ollama")["starts"] == 1


def test_a_key_reaches_a_server_behind_tls_and_a_path_and_nobody_else(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    with ollama(tmp_path / "models", "qwen") as fake:
        fake.prefix = "/llm"
        fake.socket = context.wrap_socket(fake.socket, server_side=True)
        url = f"https://localhost:{fake.server_port}/llm/v1"
        configure("far", kind="ollama", url=url, models=("qwen", "gemma"), pull=True,
                  api_key_env="FAR_KEY")  # fmt: skip
        configure("none", url=url, models=("other",), api_key_env="NO_KEY")
        agent = start(SSL_CERT_FILE=str(CERTIFICATE), FAR_KEY="sk-secret")
        until(lambda: base.one(MODELS) == ["qwen"], "the model that is there")
        assert base.ended(ask(base, "qwen"))["status"] == "completed"
        number = begun(base)
        fake.finish.set()
        assert answer(base, number) is None
        why = "api_key_env: the environment of the agent has no NO_KEY"
        until(lambda: server(base, "none")["error"] == why, "the reason")
    assert fake.keys == {"Bearer sk-secret"}
    assert "sk-secret" not in agent.said()
    for table in (
        "qwf.workers",
        "qwf.model_requests",
        "qwf.jobs",
        "qwf.job_attempts",
        "_qwf.event_log",
    ):
        assert "sk-secret" not in str(base.one(f"select json_agg(t) from {table} t"))


def test_the_end_of_a_pull_is_known_although_the_connection_was_lost(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    path = f"{base.conn.info.host}/.s.PGSQL.{base.conn.info.port}"
    with ollama(tmp_path / "models") as fake, proxy_to(path) as proxy:
        external(configure, fake, "gemma", pull=True)
        start(QWF_DSN=make_conninfo(base.dsn, host="127.0.0.1", port=proxy.port))
        state(base, "ready", "ollama")
        number = begun(base)
        proxy.freeze()
        fake.finish.set()
        until(lambda: LOADED in fake.asked, "the pull to end")
        assert answer(base, number) is None


def test_a_pull_that_stands_still_is_given_up_and_one_that_moves_is_not(tmp_path: Path) -> None:
    with ollama(tmp_path / "models") as fake, selectors.DefaultSelector() as selector:
        place = ServerPlace(("127.0.0.1", fake.server_port))
        call = ModelCall(selector, place, "gemma", 0.0, 60.0, pull=True)
        now = 0.0
        deadline = time.monotonic() + DEADLINE_S
        while not call.over:
            assert time.monotonic() < deadline
            now += 0.0 if not call.progress.startswith("pulling: 43") else 5.0
            for key, _ in selector.select(0.05):
                key.data()
            call.step(now)
        assert now >= 60
        assert call.error is not None
        assert "cannot pull gemma: it has not moved for 60 s" in call.error
        assert fake.cancelled.wait(DEADLINE_S)
        assert not selector.get_map()


@pytest.mark.parametrize(
    ("line", "progress"),
    [
        ({"status": "pulling x", "digest": "x", "total": 10**400, "completed": 1}, "pulling x"),
        ({"status": "pulling x", "digest": "x", "total": 0}, "pulling"),
        ({"status": "pulling x", "total": "many", "completed": None}, "pulling x"),
        ({"status": "a\0b\ud800"}, "a b "),
        ([], "pulling manifest"),
        ("\u0000", "pulling manifest"),
    ],
    ids=str,
)
def test_nothing_that_a_server_says_breaks_a_pull(
    tmp_path: Path, line: object, progress: str
) -> None:
    with ollama(tmp_path / "models") as fake, selectors.DefaultSelector() as selector:
        fake.says = line
        place = ServerPlace(("127.0.0.1", fake.server_port))
        call = ModelCall(selector, place, "gemma", 0.0, 60.0, pull=True)
        deadline = time.monotonic() + DEADLINE_S
        while call.progress != progress or not fake.said.is_set():
            assert time.monotonic() < deadline, call.progress
            for key, _ in selector.select(0.05):
                key.data()
            call.step(0.0)
        assert not call.over
        call.close()
