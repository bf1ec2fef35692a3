"""A database in which everything that a page can show is there once."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from support.made_jobs import claim, enqueue, fail, finish, worker
from support.poison import one

Db = psycopg.Connection[Any]
TRACEBACK = (
    'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: photo %s is torn'
)
PIPELINE = {
    "name": "inspect",
    "inputs": {"type": "object", "properties": {"photos": {"type": "array"}}},
    "outputs": {"best": {"$from": "detect"}},
    "nodes": [
        {"id": "load", "node": "load", "queue": "default",
         "inputs": {"photos": {"$from": "pipeline.photos"}}},
        {"id": "detect", "node": "detect", "depends_on": ["load"], "map": {"$from": "load.list"},
         "queue": "default", "on_failure": "continue", "min_success": "50%",
         "inputs": {"photo": {"$from": "item"}}},
        {"id": "report", "node": "report", "queue": "default", "depends_on": ["detect"]},
    ],
}  # fmt: skip
WORKFLOW = {
    "name": "photos",
    "steps": [
        {"id": "ask", "kind": "input", "widget": "choose_one", "target": "choice",
         "prompt": "Which one?", "options": [{"id": "a", "label": "first", "help": "the sharp one"},
                                             {"id": "b", "label": "second"}]},
        {"id": "inspect", "kind": "pipeline", "pipeline": "inspect", "depends_on": ["ask"],
         "inputs": {"photos": {"$from": "photos"}}},
    ],
}  # fmt: skip
SAMPLE = {
    "cpu_percent": 43, "cpu_ours_percent": 20, "ram_percent": 50, "ram_used_mb": 8192,
    "ram_total_mb": 16384, "swap_used_mb": 10,
    "gpus": [{"name": "H200", "use_pct": 80, "vram_used_mb": 14336, "vram_total_mb": 143360}],
}  # fmt: skip
SERVERS = [
    {"name": "vllm", "kind": "openai", "external": False, "parallel": 8, "idle_s": 300, "card": 0,
     "models": {"qwen": 9500, "phi": None}},
    {"name": "llama", "kind": "openai", "external": False, "parallel": 1, "idle_s": 0,
     "card": "none", "models": {"tiny": None}},
]  # fmt: skip
DOING = [
    {"name": "vllm", "state": "ready", "model": "qwen", "inflight": 3, "since_s": 61.5,
     "load_s": 27, "starts": 2, "crashes": 1, "error": "killed by signal 9",
     "tokens": 48210, "prompt_tokens": 9120, "tokens_per_s": 61.5},
    {"name": "llama", "state": "broken", "model": "tiny", "since_s": 12, "starts": 5, "crashes": 5,
     "error": "exit 1: CUDA out of memory\nloading tiny\nTried to allocate 9.5 GiB"},
]  # fmt: skip


def fill(db: Db) -> None:
    """Fill it through the functions that producers, agents and people call."""
    one(db, "select qwf.create_limit('llm', 2)")
    one(db, "select qwf.create_queue('paused')")
    one(db, "select qwf.create_queue('unserved')")
    one(db, "select qwf.pause_queue('paused')")
    one(db, "select qwf.create_schedule('nightly', task => 'clean', every => '1 day')")
    cpu = worker(db, "default", slots=4, models=["flux"], tasks=["load", "detect"], labels={"a": 1})
    worker(db, "default", "box-b", slots=1)
    model = {"card": 0, "model": "flux", "busy": False, "warm_s": 9, "idle_s": 4}
    db.execute("select qwf.heartbeat(%s, stats => %s)", (cpu, Jsonb({"models": [model]})))
    for host in ("box-a", "box-b"):
        one(db, "select qwf.report_metrics(%s, %s)", host, Jsonb(SAMPLE))
    one(db, "select qwf.worker_control('box-b', 'default', 'off', reason => 'a new card')")
    one(db, "select qwf.request_model('box-a', 'default', 'flux', 'unload')")
    for photo in range(3):
        fail(db, cpu, "detect", TRACEBACK % photo, log_tail="reading\ntorn")
    _runs(db, cpu)
    running = enqueue(db, "detect", key="k-1", labels={"team": "street"}, project="demo")
    claim(db, "default", cpu, 2)
    db.execute(
        "insert into qwf.job_progress select id, attempt, 0.4, 'photo 4 of 10', now()"
        " from qwf.jobs where id = %s",
        (running,),
    )
    enqueue(db, "llm", queue="paused", limit_by="llm")
    _servers(db)
    enqueue(db, "alone", queue="unserved", requires={"disk": "fast"})
    enqueue(db, "later", run_at="2100-01-01 00:00Z")
    cancelled = enqueue(db, "never")
    one(db, "select qwf.cancel_job(%s, 'not needed')", cancelled)
    db.execute("select qwf.tick()")


def _servers(db: Db) -> None:
    """A box with two model servers, one that runs three jobs, and a broken one that a job needs."""
    llm = worker(db, "llm", slots=9, models=["phi", "qwen"], servers=SERVERS)
    db.execute("select qwf.heartbeat(%s, stats => %s)", (llm, Jsonb({"servers": DOING})))
    for _ in range(3):
        enqueue(db, "llm", queue="llm", model="qwen")
    claim(db, "llm", llm, 3)
    db.execute(
        "insert into qwf.job_progress select id, attempt, 0.6, '123 tokens, 41/s', now()"
        " from qwf.jobs where claimed_by = %s", (llm,)
    )  # fmt: skip
    enqueue(db, "llm", queue="llm", model="tiny")


def _runs(db: Db, cpu: str) -> None:
    """Two runs: one waits for its answer, one has answered and half of its map has ended."""
    one(db, "select qwf.register_pipeline(%s)", Jsonb(PIPELINE))
    one(db, "select qwf.register_workflow(%s)", Jsonb(WORKFLOW))
    start = "select qwf.enqueue_run('photos', %s, labels => %s)"
    given = Jsonb({"photos": ["1", "2"]}), Jsonb({"team": "street"})
    run = one(db, start, *given)
    one(db, start, *given)
    one(db, "select qwf.submit_input(%s, 'ask', %s, 'bob')", run, Jsonb("a"))
    db.execute("select qwf.tick()")
    loaded = claim(db, "default", cpu)[0]
    files = [{"rel_path": "load.txt", "size_bytes": 5}]
    finish(db, loaded, "completed", output={"list": ["1", "2", "3"]}, files=files)
    db.execute("select qwf.tick()")
    done, bad = claim(db, "default", cpu, 2)
    finish(db, done, "completed", output={"boxes": 3})
    finish(db, bad, "error", TRACEBACK % 9)
    db.execute("select qwf.tick()")
