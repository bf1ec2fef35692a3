"""Overhead of an agent on a model server, and its gain from asking for several answers at once.

A real llama.cpp serves a model of random weights, which the memory of a processor cannot cache: so
one pass for four answers costs little more than one pass for one. The same requests go to it one
by one and all at once, by way of an agent and without one. Requests to a second server, with a
model that answers in milliseconds, show what the agent costs. Every answer has its full length.
*server cpu ms* is the CPU time of the server for a token: unlike the rates it hardly changes if
others use the machine.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import click
import psutil

from bench.measure import until
from bench.processes import FORK, agents
from bench.samples import Sample
from bench.scenario import scenario
from bench.server import BenchError, Database, Server
from examples.captions import noise
from qwf_agent.llm.client import ServedModel

NEEDED = ("xllamacpp", "gguf", "numpy")
PLACES = 4
HOST = "box"
SERVER = """
[[server]]
name = "{name}"
command = {command}
parallel = {places}
[server.models.{name}]
path = "{path}"
"""
LOAD = "select qwf.request_model(%s, 'llm', %s, 'load')"
ANSWERED = """
    select exists (select from qwf.model_requests where id = %s and answered_at is not null)
"""
READY = """
    select (s ->> 'port')::int, (s ->> 'pid')::int
    from qwf.workers w, jsonb_array_elements(w.stats -> 'servers') s
    where s ->> 'name' = %s and s ->> 'state' = 'ready'
"""
ENQUEUE = """
    select array_agg(id) from (
      select qwf.enqueue('llm', %s, queue => 'llm', model => %s) as id from generate_series(1, %s)
    ) made
"""
LEFT = "select count(*) from qwf.jobs where id = any (%s) and finished_at is null"
# One by one the times add up, because each job is queued after the end of the one before.
TOOK = """
    select extract(epoch from max(finished_at) - min(queued_at))::float8,
      extract(epoch from sum(finished_at - queued_at))::float8,
      count(*) filter (where status <> 'completed')
    from qwf.jobs where id = any (%s)
"""


class Model(NamedTuple):
    """A served model: its name, and the port and the process of its server."""

    name: str
    port: int
    pid: int

    def cpu_s(self) -> float:
        """Seconds of CPU time that the server has used."""
        return float(sum(psutil.Process(self.pid).cpu_times()[:2]))


@scenario("serve")
@click.option("--width", default=2048, show_default=True, help="Of the model; 2048 is 0.5 GB.")
@click.option("--tokens", default=40, show_default=True, help="Length of an answer.")
@click.option("--requests", default=8, show_default=True, help="How many, on 4 places.")
@click.option("--short", default=200, show_default=True, help="Requests of 4 tokens.")
def serve(server: Server, width: int, tokens: int, requests: int, short: int) -> Iterator[Sample]:
    """Requests to a model server of four places: all at once against one by one."""
    big = noise.Shape(width, 2, width // 128, 4 * width)
    with served(server, {"big": big, "small": noise.TINY}) as (base, models):
        model, small = models["big"], models["small"]
        directly(small, 8, 4, PLACES)  # the first requests of both ways also start things
        by_agent(base, small, 8, 4)
        rates: dict[str, float] = {}
        for way in ("direct", "agent"):
            for at_once in (1, requests):
                cpu_s = model.cpu_s()
                if way == "direct":
                    seconds, most = directly(model, requests, tokens, min(at_once, PLACES)), 0
                else:
                    seconds, most = by_agent(base, model, requests, tokens, at_once == 1)
                rates[f"{way} {at_once}"] = rate = requests * tokens / seconds
                more = {"times_one_by_one": rate / rates[f"{way} 1"]} if at_once > 1 else {}
                more |= {"most_in_slots": float(most)} if most else {}
                more["server_cpu_ms"] = 1000 * (model.cpu_s() - cpu_s) / (requests * tokens)
                yield Sample("serve", f"{at_once} at once, {way}", rate, "tokens/s", more=more)
        direct_ms = 1000 * PLACES * directly(small, short, 4, PLACES) / short
        yield Sample("serve", f"short, {PLACES} at once, direct", direct_ms, "ms per request")
        agent_ms = 1000 * PLACES * by_agent(base, small, short, 4)[0] / short
        added = {"added_ms": agent_ms - direct_ms}
        figure = f"short, {PLACES} at once, agent"
        yield Sample("serve", figure, agent_ms, "ms per request", more=added)


@contextlib.contextmanager
def served(
    server: Server, shapes: dict[str, noise.Shape]
) -> Iterator[tuple[Database, dict[str, Model]]]:
    """An agent with a server for each of these models, once all are ready."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise BenchError(f"no model server: pip install {' '.join(missing)}")
    with tempfile.TemporaryDirectory(prefix="qwf-bench-models-") as folder:
        config = Path(folder, "qwf.toml")
        tables = [table(name, noise.make(Path(folder, name), shapes[name])) for name in shapes]
        config.write_text("".join(tables), encoding="utf-8")
        options = ("--queue", "llm", "--host", HOST)
        with (
            server.database() as base,
            agents(base.dsn, 1, *options, QWF_CONFIG=str(config)),
        ):
            yield base, {name: loaded(base, name) for name in shapes}


def table(name: str, path: Path) -> str:
    """The table of qwf.toml for a server with this model."""
    words = [sys.executable, noise.__file__, "serve", "{path}", "{port}", "{parallel}", "{model}"]
    return SERVER.format(name=name, command=json.dumps(words), path=path, places=PLACES)


def loaded(base: Database, name: str) -> Model:
    """Start the server of a model and wait until it is ready."""
    request = base.value(LOAD, HOST, name)
    until(lambda: base.value(ANSWERED, request), f"the model {name}")
    ready = until(lambda: base.conn.execute(READY, [name]).fetchone(), "the heartbeat")
    return Model(name, *ready)


def directly(model: Model, requests: int, tokens: int, at_once: int) -> float:
    """Seconds that requests take without an agent, from as many processes as are asked at once."""
    with ProcessPoolExecutor(at_once, mp_context=FORK, initializer=be_silent) as pool:
        asked = [(model, 1)] * at_once
        list(pool.map(ask, *zip(*asked, strict=True)))  # the processes have started
        begin = time.monotonic()
        list(pool.map(ask, *zip(*[(model, tokens)] * requests, strict=True)))
        return time.monotonic() - begin


def ask(model: Model, tokens: int) -> None:
    """One request, as a body of an agent makes it."""
    handle = ServedModel(model.name, f"http://127.0.0.1:{model.port}")
    handle.chat("says", max_tokens=tokens, temperature=0, ignore_eos=True)


def be_silent() -> None:
    """Write what a model says to nowhere; an agent reads it from its children."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115


def by_agent(
    base: Database, model: Model, requests: int, tokens: int, one_by_one: bool = False
) -> tuple[float, int]:
    """Seconds from the enqueue to the last end of as many jobs, and the most requests that the
    server worked on at a time."""
    args = {"prompt": "says", "max_tokens": tokens, "temperature": 0, "ignore_eos": True}
    ids: list[int] = []
    most = 0

    def ended() -> bool:
        nonlocal most
        time.sleep(0.04)  # looking often would slow down what it looks at
        most = max(most, busy(model))
        return not base.value(LEFT, ids)

    while len(ids) < requests:
        count = 1 if one_by_one else requests
        ids += base.value(ENQUEUE, json.dumps(args), model.name, count)
        until(ended, "the answers")
    whole, added_up, failed = base.conn.execute(TOOK, [ids]).fetchall()[0]
    if failed:
        raise BenchError(f"{failed} of {requests} requests failed")
    return added_up if one_by_one else whole, most


def busy(model: Model) -> int:
    """On how many requests the server works now."""
    with urllib.request.urlopen(f"http://127.0.0.1:{model.port}/slots", timeout=60) as answer:
        return sum(bool(slot["is_processing"]) for slot in json.load(answer))
