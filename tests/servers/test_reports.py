"""An agent reports what its servers print, and the tokens of their jobs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from qwf_agent.servers.process import ServerOutput
from qwf_agent.servers.tokens import TokenCount
from support.harness import PACKAGE, Database, StartAgent, until
from support.llama import COMMAND
from support.served import ask, server, state

QWF = [sys.executable, "-c", "from qwf_agent.cli import main; main()"]
SAYS = ("sh", "-c", 'echo "begins as $$"; exec "$@"', "start", *COMMAND)


@contextmanager
def following(dsn: str, home: Path, *words: str) -> Iterator[Callable[[], str]]:
    """Runs `qwf logs -f`; gives what it has printed so far."""
    out = home / "followed"
    argv = [*QWF, "logs", "-f", *words, "--dsn", dsn]
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE), "PYTHONUNBUFFERED": "1"}
    with out.open("wb") as file:
        process = subprocess.Popen(argv, stdout=file, stderr=file, env=environment)
    try:
        yield out.read_text
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    finally:
        process.kill()
        process.wait()


def test_its_log_goes_on_over_a_restart(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    configure(command=SAYS)
    start()
    with following(base.dsn, tmp_path, "--server", "box/llama") as printed:
        base.ended(ask(base))
        first = state(base, "ready")
        until(lambda: f"begins as {first['pid']}\n" in printed(), "the first start")
        os.kill(first["pid"], signal.SIGKILL)
        until(lambda: server(base)["crashes"] == 1, "the crash")
        base.ended(ask(base))
        second = state(base, "ready")
        until(lambda: f"begins as {second['pid']}\n" in printed(), "the second start")
        until(lambda: "box/llama: ready tiny" in printed(), "what it does")
    assert printed().count("begins as") == 2
    assert second["log"].index(f"as {first['pid']}\n") < second["log"].index(f"as {second['pid']}")
    assert second["log_bytes"] > first["log_bytes"] >= len(f"begins as {first['pid']}\n")


def test_the_logs_of_many_servers_fit_into_a_heartbeat(
    base: Database, start: StartAgent, configure: Any
) -> None:
    """A quotation mark is twice as long in JSON."""
    quotes = """head -c 100000 /dev/zero | tr '\\0' '"'; exec sleep 600 # {port}"""
    names = [f"s{number}" for number in range(6)]
    for name in names:
        configure(name, (name,), command=("sh", "-c", quotes), card="none")
    start()
    for name in names:
        base.one("select qwf.request_model('box', 'llm', %s, 'load')", name)
    for name in names:
        until(lambda one=name: server(base, one).get("log_bytes") == 100_000, f"the log of {name}")
    assert [len(server(base, name)["log"]) for name in names] == [4 * 4096 // 6] * 6
    assert base.one("select octet_length(stats::text) from qwf.workers") < 40_000


def test_the_tokens_of_its_jobs_are_counted(
    base: Database, start: StartAgent, configure: Any
) -> None:
    configure()
    start()
    given = {"prompt": "says", "max_tokens": 9, "ignore_eos": True}
    jobs = [base.enqueue("llm", given, queue="llm", model="tiny") for _ in range(3)]
    for job in jobs:
        assert base.ended(job)["status"] == "completed"
    usage = [base.attempts(job)[0]["usage"] for job in jobs]
    look = "select tokens, prompt_tokens, tokens_per_s from qwf.server_overview"
    wanted = sum(one["completion_tokens"] for one in usage)
    assert wanted == 27
    until(lambda: base.one(look) == wanted, "all tokens")
    row = base.conn.execute(look).fetchone()
    assert row is not None
    assert row["prompt_tokens"] == sum(one["prompt_tokens"] for one in usage) > 0
    assert 0 < row["tokens_per_s"] <= 27 / 60 + 0.1


def test_a_job_that_does_not_say_what_it_used_counts_nothing(
    base: Database, start: StartAgent, configure: Any
) -> None:
    configure()
    start()
    base.ended(ask(base))
    assert state(base, "ready")["tokens"] == 0


def test_the_rate_is_that_of_the_last_minute() -> None:
    count = TokenCount()
    count.add({"completion_tokens": 600, "prompt_tokens": 5}, seconds=120.0, now=1000.0)
    assert count.per_s(1000.0) == pytest.approx(300 / 60), "half of its run lies in the minute"
    assert count.per_s(1030.0) == pytest.approx(150 / 60)
    assert count.per_s(1060.0) == 0.0
    for nonsense in ({"completion_tokens": value} for value in ("9", None, -1, 1e99, float("nan"))):
        count.add(nonsense, 1.0, 1060.0)
    assert count.stats(1060.0) == {"tokens": 600, "prompt_tokens": 5, "tokens_per_s": 0.0}


def test_bytes_that_are_no_text_keep_their_number() -> None:
    every = bytes(range(256)) + "é\u2028😀".encode()
    text = ServerOutput(every, 10_000).text(4096)
    assert len(text.encode()) == len(every)
    assert text.endswith("é\u2028😀")
    assert "\n" in text
    assert len(json.dumps(text, ensure_ascii=False).encode()) <= 2 * len(every)
    half = ServerOutput("é".encode(), 2).text(1)
    assert half == "?", "a letter that is cut in half"


def test_a_second_agent_with_the_same_servers_is_warned(
    base: Database, start: StartAgent, configure: Any
) -> None:
    configure()
    configure("far", url="http://127.0.0.1:1")
    first = start()
    warned = "another agent of this box runs the same model servers"
    second = start()
    until(lambda: warned in second.said(), "the warning")
    assert "has llama, too" in second.said(), "an address may be used by both"
    other = start("--host", "other")
    until(lambda: base.one("select count(*) from qwf.workers") == 3, "the third agent")
    other.signal(signal.SIGTERM)
    assert other.ended() == 0
    assert warned not in first.said() + other.said()
