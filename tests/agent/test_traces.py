"""Spans of bodies, as a receiver of OpenTelemetry gets them from real agents."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import traced
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.semconv._incubating.attributes import messaging_attributes
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from qwf_agent import jobs, runs
from qwf_agent.otel import attributes
from support.harness import PACKAGE, Database, StartAgent, run_agent, until
from support.otlp import Receiver, receiver

CONSUMER, ERROR, UNSET = 5, 2, 0  # of the protobuf
PIECE = {
    "name": "piece",
    "steps": [{"id": "do", "node": "element", "queue": "default",
               "inputs": {"item": {"$from": "thing"}}}],
}  # fmt: skip
EACH = {"depends_on": ["count"], "map": {"$from": "count.items"}}
FAN = {
    "name": "fan",
    "steps": [
        {"id": "count", "node": "count", "queue": "default", "inputs": {"n": {"$from": "n"}}},
        {"id": "each", "node": "element", "queue": "default",
         "inputs": {"item": {"$from": "item"}}, **EACH},
        {"id": "within", "kind": "workflow", "workflow": "piece",
         "inputs": {"thing": {"$from": "item"}}, **EACH},
    ],
}  # fmt: skip


@pytest.fixture
def spans() -> Iterator[Receiver]:
    with receiver() as found:
        yield found


@pytest.fixture
def tracer(spans: Receiver) -> Iterator[trace.Tracer]:
    """The tracer of a program that enqueues."""
    provider = TracerProvider()
    exporter = OTLPSpanExporter(f"{spans.environment['OTEL_EXPORTER_OTLP_ENDPOINT']}/v1/traces")
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    yield provider.get_tracer("shop")
    provider.shutdown()


def id_of(span: trace.Span) -> str:
    return trace.format_span_id(span.get_span_context().span_id)


def test_a_trace_leads_from_the_producer_to_every_body(
    base: Database, start: StartAgent, spans: Receiver, tracer: trace.Tracer
) -> None:
    """Also to jobs and runs that a body enqueues, to elements of a map and to runs of a step."""
    for definition in (PIECE, FAN):
        base.one("select qwf.register_workflow(%s)", json.dumps(definition))
    with tracer.start_as_current_span("order") as order, psycopg.connect(base.dsn) as conn:
        job = traced.first.enqueue(conn, "ada")
    agent = start("--app", "traced", **spans.environment, OTEL_SERVICE_NAME="studio")
    (first,) = spans.wait_for("first")
    (second,), (count,) = spans.wait_for("second"), spans.wait_for("count")
    elements = spans.wait_for("element", 4)
    assert agent.stop() == 0
    (opened,) = [span for span in spans.spans if span.name == "order"]
    inner = {span.parent: span for span in spans.spans if span.name == "inner"}
    bodies = [first, second, count, *elements]
    assert {span.trace for span in (opened, *inner.values(), *bodies)} == {first.trace}
    assert opened.id == id_of(order) == first.parent
    # What a body enqueues while a span of its own is open is a child of that span.
    assert {span.parent for span in bodies[1:]} == {inner[first.id].id}
    assert inner.keys() == {span.id for span in bodies}
    assert {(one.name, one.kind, one.service, one.status) for one in bodies} == {
        ("run default", CONSUMER, "studio", UNSET)
    }
    assert first.attributes.pop("qwf.queued_s") > 0
    assert first.attributes == {
        "messaging.system": "qwf", "messaging.destination.name": "default",
        "messaging.operation.name": "run", "messaging.operation.type": "process",
        "messaging.message.id": str(job), "qwf.task": "first", "qwf.attempt": 1,
    }  # fmt: skip
    run = base.job(job)["output"]["run"]
    assert (count.attributes["qwf.run_id"], count.attributes["qwf.node_id"]) == (run, "count")
    children = base.conn.execute("select id from qwf.runs where id <> %s", (run,)).fetchall()
    assert {one.attributes["qwf.run_id"] for one in elements} == {run, *(c["id"] for c in children)}
    assert {one.attributes["qwf.node_id"] for one in elements} == {"each[0]", "each[1]", "do"}


def test_every_way_to_enqueue_carries_the_open_span(base: Database, tracer: trace.Tracer) -> None:
    """Without one there is no label; the label of a caller and its other labels are kept."""

    async def in_a_loop(dsn: str) -> list[int]:
        async with await psycopg.AsyncConnection.connect(dsn) as conn:
            many = [traced.second.job("a"), traced.second.options(labels=mine).job("b")]
            alone = await traced.second.enqueue_async(conn, "c")
            return [alone, *await jobs.enqueue_many_async(conn, many)]

    mine = {"traceparent": "mine"}
    base.one("select qwf.register_workflow(%s)", json.dumps(FAN | {"steps": FAN["steps"][:1]}))
    state = {"traceparent": f"00-{'1' * 32}-{'2' * 16}-01", "tracestate": "vendor=1"}
    context = TraceContextTextMapPropagator().extract(state)
    with psycopg.connect(base.dsn) as conn, tracer.start_as_current_span("s", context) as span:
        traceparent = f"00-{'1' * 32}-{id_of(span)}-01"
        found = {"traceparent": traceparent, "tracestate": "vendor=1"}
        ids = [traced.second.options(labels={"a": 1}, key="k").enqueue(conn, "a")]
        ids += jobs.enqueue_many(conn, [traced.second.job("b")])
        sql, params = traced.second.statement("c")
        ids += [conn.execute(re.sub(r"\$\d+", "%s", sql), params).fetchall()[0][0]]  # type: ignore[arg-type]
        run = runs.enqueue(conn, "fan", {"n": 1}, labels={"b": 2})
        conn.commit()
        ids += asyncio.run(in_a_loop(base.dsn))
    labels = [base.job(job)["labels"] for job in ids]
    assert labels == [{"a": 1, **found}, found, found, found, found, mine]
    assert base.one("select labels from qwf.runs where id = %s", run) == {"b": 2, **found}
    with psycopg.connect(base.dsn, autocommit=True) as conn:
        assert base.job(traced.second.enqueue(conn, "x"))["labels"] == {}


def test_a_body_that_fails_says_so_in_its_span(
    base: Database, start: StartAgent, spans: Receiver
) -> None:
    """A body that exits with 0 has not failed. A span without a producer begins a trace."""
    for how in ("raise", "output", "exit", "unsendable"):
        base.enqueue("fail", {"how": how}, max_attempts=1)
    start("--app", "traced", **spans.environment)
    found = spans.wait_for("fail", 4)
    assert [one.status for one in found] == [ERROR, ERROR, UNSET, ERROR]
    raised, output, _, unsendable = found
    assert raised.attributes["error.type"] == "LookupError"
    ((event, said),) = raised.events
    assert (event, said["exception.message"]) == ("exception", "nobody is there")
    assert "traced.py" in said["exception.stacktrace"]
    assert "the output is not JSON" in output.events[0][1]["exception.message"]
    assert unsendable.events[0][1]["exception.message"] == "[Errno 2] no file: 'a\\udcff'"
    assert {one.parent for one in found} == {""}
    assert {one.service for one in found} == {"qwf-agent"}


def test_a_killed_body_leaves_no_span_and_those_before_it_stay(
    base: Database, start: StartAgent, spans: Receiver, tmp_path: Path
) -> None:
    """The next attempt has a span, with the same parent."""
    parent = f"00-{'a' * 32}-{'b' * 16}-01"
    labels = json.dumps({"traceparent": parent})
    agent = start("--app", "traced", **spans.environment)
    base.enqueue("second", {"name": "before"})
    file = tmp_path / "begun"
    job = base.enqueue("stay", {"file": str(file)}, labels=labels)
    until(file.exists, "the body")
    spans.wait_for("second")
    for pid in agent.children():
        os.kill(pid, signal.SIGKILL)
    assert base.ended(job)["status"] == "completed"
    (found,) = spans.wait_for("stay")
    assert (found.trace, found.parent) == ("a" * 32, "b" * 16)
    assert found.attributes["qwf.attempt"] == 2
    assert agent.stop() == 0
    assert len(spans.of_task("stay")) == 1


def test_each_job_of_a_batch_has_a_span_with_its_own_end(
    base: Database, start: StartAgent, spans: Receiver
) -> None:
    """They are linked: what the body does belongs to the span of the first one."""
    start("--app", "traced", **spans.environment)
    base.ended(base.enqueue("judge"))  # so that the agent claims more than one
    bad = base.enqueue("judge", {"bad": True}, max_attempts=1)
    parents = [f"00-{n:032x}-{n:016x}-01" for n in range(1, 5)]
    items = [{"task": "judge", "labels": {"traceparent": parent}} for parent in parents]
    items.append({"task": "judge", "args": {"bad": True}, "max_attempts": 1})
    base.conn.execute("select qwf.enqueue_many(%s)", (json.dumps(items),))
    found = spans.wait_for("judge", 7)
    assert [one["status"] for one in (base.ended(bad),)] == ["failed"]
    failed = [one for one in found if one.status == ERROR]
    assert len(failed) == 2
    assert {one.events[0][1]["exception.message"] for one in failed} == {"bad"}
    told = {one.trace: one for one in found}
    assert [told[f"{n:032x}"].parent for n in range(1, 5)] == [f"{n:016x}" for n in range(1, 5)]
    # A batch is a first one, which has what the body does, and others; links lead both ways.
    linked = {one.id: one for one in found if one.links}
    inside = {span.parent for span in spans.spans if span.name == "inner"}
    assert linked.keys() & inside
    for one in linked.values():
        assert all(one.id in linked[other].links for other in one.links)
        assert one.id in inside or inside.issuperset(one.links)
        assert one.id in inside or len(one.links) == 1


def test_bodies_that_run_at_once_keep_their_spans_apart(
    base: Database, start: StartAgent, spans: Receiver
) -> None:
    items = [
        {"task": "beside", "args": {"number": n},
         "labels": {"traceparent": f"00-{n + 1:032x}-{n + 1:016x}-01"}}
        for n in range(10)
    ]  # fmt: skip
    base.conn.execute("select qwf.enqueue_many(%s)", (json.dumps(items),))
    start("--app", "traced", **spans.environment)
    assert len(spans.wait_for("beside", 10)) == 10
    parts = until(lambda: len(p := [s for s in spans.spans if "part" in s.name]) == 10 and p)
    by_id = {span.id: span for span in spans.spans}
    for part in parts:
        inner = by_id[part.parent]
        body = by_id[inner.parent]
        number = int(part.name.removeprefix("part ")) + 1
        assert (part.trace, body.trace, body.parent) == (
            f"{number:032x}", f"{number:032x}", f"{number:016x}",
        )  # fmt: skip


def test_no_job_waits_for_the_receiver(base: Database, start: StartAgent, spans: Receiver) -> None:
    """All jobs end while it does not answer; the agent stops all the same."""
    spans.answers.clear()
    agent = start("--app", "traced", "--recycle-jobs", "5", **spans.environment)
    jobs_ = [base.enqueue("second", {"name": "x"}) for _ in range(20)]
    assert {base.ended(job)["status"] for job in jobs_} == {"completed"}
    assert agent.stop() == 0
    assert spans.spans == []
    assert spans.asked.is_set()


@pytest.mark.parametrize("app", ["--app", "--nodes"])
def test_the_last_spans_are_sent_before_an_agent_ends(
    base: Database, start: StartAgent, spans: Receiver, app: str
) -> None:
    """--otel makes spans for code that does not ask for them, too."""
    task = "noop" if app == "--app" else "relay"
    for _ in range(5):
        base.enqueue(task, {} if app == "--app" else {"baton": 1})
    agent = start(
        app, "bodies" if app == "--app" else "steps", "--otel", "--until-empty", "--fresh",
        ready=False, **spans.environment,
    )  # fmt: skip
    assert agent.ended() == 0
    assert len(spans.of_task(task)) == 5


def test_without_the_extra_it_is_named(tmp_path: Path, base: Database) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Without:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.startswith('opentelemetry'):\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Without())\n"
    )
    environment = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{PACKAGE}", "QWF_DSN": base.dsn}
    code, said = run_agent(tmp_path, "--app", "bodies", "--otel", **environment)
    assert code == 78
    assert "pip install 'qwf-agent[otel]'" in said
    done = subprocess.run(
        [sys.executable, "-c", "from qwf_agent import App, otel; otel.trace(App())"],
        env={**os.environ, **environment}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.endswith(
        "ImportError: the package opentelemetry is missing: pip install 'qwf-agent[otel]'\n"
    )


def test_the_names_are_those_of_the_conventions() -> None:
    ours: dict[str, Any] = vars(attributes)
    known = {value for value in vars(messaging_attributes).values() if isinstance(value, str)}
    used = {v for v in ours.values() if isinstance(v, str) and v.startswith("messaging.")}
    assert len(used) == 5
    assert used <= known
