"""`qwf servers`, `qwf worker set`, and what the metrics say about model servers."""

from __future__ import annotations

import json
from typing import Any

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
    ],
}
STATS = {
    "servers": [
        {"name": "vllm", "state": "ready", "model": "qwen", "inflight": 3, "since_s": 61},
        {"name": "llama", "state": "broken", "crashes": 5, "error": "exit 1\nCUDA out of memory"},
    ]
}


@pytest.fixture
def box(on_db: Cli, db: Db) -> Cli:
    """Box-a serves the queue llm with two model servers."""
    db.execute("select qwf.register_worker('box-a', 'llm', %s)", (Jsonb(INFO),))
    db.execute("select qwf.heartbeat(id, stats => %s) from qwf.workers", (Jsonb(STATS),))
    return on_db


def test_each_server_has_a_line(box: Cli) -> None:
    lines = box("servers").output.splitlines()
    assert lines[0].split()[:4] == ["host", "queue", "server", "state"], lines
    llama, vllm = lines[1:3]
    assert "broken" in llama, llama
    assert "exit 1" in llama, llama
    assert "CUDA" not in llama, "only the first line of the error"
    assert "3/8" in vllm, vllm
    found = json.loads(box("servers", "--json", "--host", "box-a").output)
    assert [row["server"] for row in found] == ["llama", "vllm"]
    assert "no model servers; add [[server]]" in box("servers", "--host", "box-z").stdout


def test_what_is_not_set_stays(box: Cli, db: Db) -> None:
    def set_to() -> Any:
        return db.execute(
            "select server, parallel, extract(epoch from server_idle)::int from qwf.worker_controls"
        ).fetchone()

    told = box("worker", "set", "--host", "box-a", "--server", "vllm", "--parallel", "4")
    assert told.output == "box-a llm: server vllm, parallel 4\n"
    assert set_to() == ("vllm", 4, None)
    assert box("worker", "set", "--host", "box-a", "--idle", "10min").exit_code == 0
    assert set_to() == ("vllm", 4, 600)
    told = box("worker", "set", "--host", "box-a", "--reset")
    assert told.output == "box-a llm: as its agent is configured\n"
    assert set_to() == (None, None, None)


def test_a_server_that_the_box_lacks_is_refused(box: Cli, db: Db) -> None:
    told = box("worker", "set", "--host", "box-a", "--server", "vlm")
    assert told.exit_code == 1
    assert "did you mean vllm?" in told.stderr
    assert box("worker", "set", "--host", "box-a").exit_code == 2, "nothing to set"
    assert db.execute("select count(*) from qwf.worker_controls").fetchone() == (0,)


def test_the_metrics_count_what_each_server_does(box: Cli) -> None:
    lines = box("metrics").output.splitlines()
    labels = '{host="box-a",queue="llm",server="vllm"}'
    assert f"qwf_server_up{labels} 1.0" in lines
    assert f"qwf_server_inflight{labels} 3.0" in lines
