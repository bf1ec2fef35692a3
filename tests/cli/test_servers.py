"""`qwf servers`, `qwf worker set`, and what the metrics say about model servers."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from typing import Any
from unittest import mock

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support.welcome import Cli

Db = psycopg.Connection[Any]
INFO = {
    "models": ["qwen"],
    "servers": [
        {"name": "vllm", "kind": "openai", "parallel": 8, "idle_s": 300, "models": {"qwen": 9500}},
        {"name": "llama", "kind": "openai", "parallel": 1, "idle_s": 0, "models": {"tiny": None}},
        {"name": "far", "kind": "ollama", "external": True, "parallel": 1, "models": {"m": None}},
    ],
}
STATS = {
    "servers": [
        {
            "name": "vllm",
            "state": "ready",
            "model": "qwen",
            "inflight": 3,
            "since_s": 61,
            "load_s": 27,
            "tokens": 1200,
            "prompt_tokens": 80,
            "tokens_per_s": 20.5,
            "log": "cut off\nloading\nready\n",
            "log_bytes": 100,
        },
        {"name": "llama", "state": "broken", "crashes": 5, "error": "exit 1\nCUDA out of memory"},
    ]
}


@pytest.fixture
def box(on_db: Cli, db: Db) -> Cli:
    """Box-a serves the queue llm with two model servers."""
    db.execute("select qwf.register_worker('box-a', 'llm', %s)", (Jsonb(INFO),))
    db.execute("select qwf.heartbeat(id, stats => %s) from qwf.workers", (Jsonb(STATS),))
    return on_db


@pytest.mark.usefixtures("wide")
def test_each_server_has_a_line(box: Cli) -> None:
    lines = box("servers").output.splitlines()
    assert lines[0].split()[:4] == ["host", "queue", "server", "state"], lines
    llama, vllm = lines[2:4]
    assert "broken" in llama, llama
    assert "exit 1" in llama, llama
    assert "CUDA" not in llama, "only the first line of the error"
    assert "3/8" in vllm, vllm
    assert "20.5" in vllm, vllm
    assert "1,200" in vllm or "1200" in vllm, vllm
    assert "5 min" in vllm, vllm
    assert "5 min 00 s" not in vllm, vllm
    assert "can serve tiny" in llama, llama
    found = json.loads(box("servers", "--json", "--host", "box-a").output)
    assert [row["server"] for row in found] == ["far", "llama", "vllm"]
    assert "log" not in found[2], "it has a command of its own"
    assert "no model servers; add [[server]]" in box("servers", "--host", "box-z").stdout


@pytest.mark.usefixtures("wide")
def test_a_server_that_rests_has_no_error(box: Cli, db: Db) -> None:
    say(db, state="off", model=None, error="signal 9\nthe end of its log")
    (vllm,) = (line for line in box("servers").output.splitlines() if "vllm" in line)
    assert "last ended: signal 9" in vllm, vllm
    assert "can serve qwen" in vllm, vllm


def test_what_is_not_set_stays(box: Cli, db: Db) -> None:
    def set_to() -> Any:
        return db.execute(
            "select server, parallel, extract(epoch from server_idle)::int from qwf.worker_controls"
        ).fetchone()

    told = box("worker", "set", "--host", "box-a", "--only", "vllm", "--parallel", "4")
    assert told.output == "box-a llm: only vllm, parallel 4\n"
    assert set_to() == ("vllm", 4, None)
    assert box("worker", "set", "--host", "box-a", "--idle", "10min").exit_code == 0
    assert set_to() == ("vllm", 4, 600)
    told = box("worker", "set", "--host", "box-a", "--reset")
    assert told.output == "box-a llm: all its servers serve again, as qwf.toml says\n"
    assert set_to() == (None, None, None)


def test_a_server_that_the_box_lacks_is_refused(box: Cli, db: Db) -> None:
    told = box("worker", "set", "--host", "box-a", "--only", "vlm")
    assert told.exit_code == 1
    assert "did you mean vllm?" in told.stderr
    assert box("worker", "set", "--host", "box-a").exit_code == 2, "nothing to set"
    assert db.execute("select count(*) from qwf.worker_controls").fetchone() == (0,)


def test_the_queue_is_found_by_what_the_box_has(box: Cli, db: Db) -> None:
    """The agent of box-a also serves cpu; another one there has a model of an app, on gpu."""
    db.execute("update qwf.workers set pid = 1")
    db.execute("select qwf.register_worker('box-a', 'cpu', '{\"pid\": 1, \"models\": [\"qwen\"]}')")
    gpu = Jsonb({"pid": 2, "models": ["flux"]})
    db.execute("select qwf.create_queue('gpu'), qwf.register_worker('box-a', 'gpu', %s)", (gpu,))
    db.execute("select qwf.deregister_worker(qwf.register_worker('box-a', 'default'))")
    told = box("worker", "set", "--host", "box-a", "--parallel", "2")
    assert told.output == "box-a llm: parallel 2\n"
    for model, queue in (("qwen", "llm"), ("tiny", "llm"), ("flux", "gpu")):
        told = box("worker", "load", model, "--host", "box-a")
        assert told.output == f"box-a {queue}: load {model}, requested\n", model
    told = box("worker", "unload", "--host", "box-a")
    assert told.exit_code == 2, "one of two agents"
    assert "box-a has several agents for it, of cpu, gpu, llm: which one?" in told.stderr
    assert "no worker there has this model" in box("worker", "load", "q", "--host", "box-a").stderr
    told = box("worker", "off", "--host", "box-a")
    assert "box-a serves cpu, gpu, llm: which one?" in told.stderr, "a stopped one does not count"


def test_a_worker_without_servers_has_nothing_to_set(box: Cli, db: Db) -> None:
    db.execute("select qwf.register_worker('box-a', 'cpu')")
    told = box("worker", "set", "--host", "box-a", "--queue", "cpu", "--parallel", "2")
    assert told.exit_code == 1
    assert "the model servers of this host serve queue llm" in told.stderr
    assert db.execute("select count(*) from qwf.worker_controls").fetchone() == (0,)


def test_the_metrics_count_what_each_server_does(box: Cli) -> None:
    lines = box("metrics").output.splitlines()
    labels = '{host="box-a",queue="llm",server="vllm"}'
    assert f"qwf_server_up{labels} 1" in lines
    assert f"qwf_server_inflight{labels} 3" in lines
    assert f"qwf_server_tokens_total{labels} 1200" in lines
    assert f"qwf_server_prompt_tokens_total{labels} 80" in lines
    loads = [line for line in lines if line.startswith("qwf_server_load_seconds{")]
    assert loads == [f"qwf_server_load_seconds{labels} 27"], "the others have never started"


def test_the_end_of_what_a_server_printed_is_shown(box: Cli, db: Db) -> None:
    assert box("logs", "--server", "box-a/vllm").stdout == "loading\nready\n", "whole lines"
    assert box("logs", "--server", "box-a/vllm", "-n", "1").stdout == "ready\n"
    assert box("logs", "--server", "box-a/llama").stderr == "box-a/llama has printed nothing yet\n"
    db.execute("select qwf.deregister_worker(id) from qwf.workers")
    assert box("logs", "--server", "box-a/vllm").stdout == "loading\nready\n"


def test_what_a_server_printed_moves_no_cursor(box: Cli, db: Db) -> None:
    printed = "10 %\r20 %\r\n\x1b[2Jend\n"
    say(db, log=printed, log_bytes=len(printed))
    assert box("logs", "--server", "box-a/vllm").stdout == "10 %\n20 %\n␛[2Jend\n"


def test_a_server_without_a_log_is_refused(box: Cli) -> None:
    told = box("logs", "--server", "box-a/vlm")
    assert told.exit_code == 2
    assert "there is no server 'box-a/vlm': did you mean 'box-a/vllm'?" in told.stderr
    told = box("logs", "--server", "vllm-of-mine")
    assert "there are: box-a/far, box-a/llama, box-a/vllm" in told.stderr
    told = box("logs", "--server", "box-a/far")
    assert told.exit_code == 1
    assert "box-a/far is an address of somebody else" in told.stderr
    for words in (
        ["logs"], ["logs", "1", "--server", "box-a/vllm"],
        ["logs", "-f", "1", "-n", "2"], ["logs", "--server", "box-a/vllm", "--attempt", "1"],
    ):  # fmt: skip
        assert box(*words).exit_code == 2, words


def test_a_log_is_followed_over_gaps_and_restarts(box: Cli, db: Db) -> None:
    def story() -> Iterator[None]:
        say(db, log="ready\nöne\n", log_bytes=105)
        yield
        say(db, log="ne\nthree\n", log_bytes=200, state="failed", model=None)
        yield
        say(db, log="ne\nthree\nagain\n", log_bytes=206, state="starting")
        yield
        db.execute("select qwf.deregister_worker(id) from qwf.workers")
        yield
        db.execute("select qwf.register_worker('box-a', 'llm', %s)", (Jsonb(INFO | {"pid": 7}),))
        say(db, log="fresh\n", log_bytes=900)
        yield

    with told_while_asleep(story()):
        followed = box("logs", "-f", "--server", "box-a/vllm", "-n", "1")
    assert followed.exit_code == 130
    assert followed.stdout == "ready\nöne\nne\nthree\nagain\nfresh\n"
    told = [line for line in followed.stderr.splitlines() if "interrupted" not in line]
    assert told == [
        "── box-a/vllm: ready qwen ──",
        "... 86 bytes left out ...",
        "── box-a/vllm: failed ──",
        "── box-a/vllm: starting qwen ──",
        "── box-a/vllm: its agent has stopped ──",
        "... 894 bytes left out ...",
        "── box-a/vllm: ready qwen ──",
    ]


def say(db: Db, **entry: Any) -> None:
    """Let a heartbeat of the live worker say this of vllm."""
    stats = Jsonb({"servers": [{"name": "vllm", "state": "ready", "model": "qwen", **entry}]})
    db.execute(
        "select qwf.heartbeat(id, stats => %s) from qwf.workers where stopped_at is null", (stats,)
    )


@contextlib.contextmanager
def told_while_asleep(story: Iterator[None]) -> Iterator[None]:
    """While the command sleeps, the next part of the story happens; then it is interrupted. What
    cleans the database after the test sleeps in earnest again."""

    def sleep(_seconds: float) -> None:
        if next(story, story) is story:
            raise KeyboardInterrupt

    with mock.patch.object(time, "sleep", sleep):
        yield
