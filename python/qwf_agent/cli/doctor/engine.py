"""Checks of the engine: ticks, runs, queues, workers, model servers, schedules."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from qwf_agent.cli import missing_options
from qwf_agent.cli.doctor.findings import (
    MAX_SHOWN,
    Finding,
    duration,
    first_few,
    jobs,
    note,
    problem,
    query_value,
)
from qwf_agent.look import draw
from qwf_agent.look.connection import Connection, call, many

OLD_EVENT = timedelta(minutes=1)
LATE = timedelta(minutes=1)  # for what a tick should have done
LACKING = """
select s.host, s.server, l.value as why
from qwf.servers s cross join jsonb_each_text(s.lacks) l
where s.state <> 'not chosen'
order by s.host, s.server, l.key
"""
# Addresses may be used by several agents.
TWICE = """
select t.host, array_agg(t.name order by t.name) as names
from (
  select s.host, s.server as name from qwf.servers s
  where not s.external
  group by s.host, s.server
  having count(*) > 1) t
group by t.host
order by t.host
"""
OLD_QUESTION = timedelta(days=1)
MISSING = """
select m.kind, min(m.name) as name, m.task, m.option, m.declared, count(*) as count
from qwf.find_missing_options() m
group by m.kind, m.task, m.option, m.declared
order by m.task, m.option, m.kind
"""


def ticking(conn: Connection, dsn: str) -> Iterator[Finding]:
    """tick() is called, and due work is done."""
    last = query_value(
        conn, "select to_timestamp(last_value / 1000.0) from qwf.last_tick where last_value > 0"
    )
    advice = "start an agent; or on a box without one: qwf tick --loop"
    silent = None if last is None else call(conn, "now") - last
    if silent is not None and silent > LATE:
        yield problem(f"the last tick was {duration(silent)} ago: no due work is done", advice)
    lapsed = query_value(
        conn,
        "select count(*) from qwf.jobs"
        " where status = 'running' and lease_expires_at < qwf.now() - %s",
        (LATE,),
    )
    if lapsed:
        yield problem(f"leases that expired but were not taken back: {jobs(lapsed)}", advice)
    due = query_value(
        conn,
        "select count(*) from qwf.jobs where status = 'scheduled' and run_at < qwf.now() - %s",
        (LATE,),
    )
    if due:
        yield problem(f"due but not queued: {jobs(due)}", advice)
    for row in many(
        conn, "select name, next_at from qwf.schedules where next_at < qwf.now() - %s", (LATE,)
    ):
        yield problem(f"schedule {row['name']} was due at {draw.moment(row['next_at'])}", advice)


def runs(conn: Connection, dsn: str) -> Iterator[Finding]:
    """Events are applied."""
    for row in many(
        conn,
        "select run_id, error from qwf.outbox where poisoned_at is not null order by id limit %s",
        (MAX_SHOWN,),
    ):
        yield problem(
            f"run {row['run_id']}: an event could not be applied: {draw.brief(row['error'])}",
            f"read the reason, fix it, then: qwf retry run {row['run_id']}",
        )
    old = many(
        conn,
        "select count(*) as count, clock_timestamp() - min(created_at) as age, min(run_id) as run"
        " from qwf.outbox"
        " where poisoned_at is null and created_at < clock_timestamp() - %s::interval",
        (OLD_EVENT,),
    )[0]
    if old["count"]:
        yield problem(
            f"{old['count']} events wait to be applied, the oldest for {duration(old['age'])} "
            f"(run {old['run']})",
            "does an agent tick? Does an open transaction hold the run? qwf tick prints what fails",
        )


def invariants(conn: Connection, dsn: str) -> Iterator[Finding]:
    """check_invariants() finds nothing."""
    yield from first_few(
        problem(
            f"{row['invariant']}: {row['subject']}, {draw.brief(row['detail'])}",
            "this is a bug in qwf, or someone wrote to its tables: report it",
        )
        for row in many(conn, "select * from qwf.check_invariants()")
    )


def queues(conn: Connection, dsn: str) -> Iterator[Finding]:
    """Queued work has workers that can take it."""
    for row in many(conn, "select * from qwf.queue_depth where queued > 0 order by queue"):
        name, waits = row["queue"], jobs(row["queued"], "wait")
        waits = f"about {waits}" if row["estimated"] else waits
        if row["paused"]:
            yield note(f"queue {name} is paused and {waits}", f"qwf queue resume {name}")
        elif not row["workers"]:
            off = many(
                conn,
                "select distinct host from qwf.fleet"
                " where queue = %s and state in ('off', 'draining')",
                (name,),
            )
            hosts = ", ".join(sorted(one["host"] for one in off))
            if off:
                yield note(
                    f"queue {name}: {waits} and its workers are switched off ({hosts})",
                    f"qwf worker on --host {off[0]['host']} --queue {name}",
                )
                continue
            yield problem(
                f"queue {name}: {waits}, the oldest for {duration(row['oldest_wait'])}, and no "
                "live worker serves it",
                f"qwf agent --queue {name} --nodes PACKAGE (or --app); or: qwf workers --all",
            )
    yield from first_few(
        problem(
            f"no live worker can take job {row['id']} ({row['task']}, queue {row['queue']})",
            f"qwf why {row['id']}",
        )
        for row in many(conn, "select * from qwf.find_unassignable()")
    )


def workers(conn: Connection, dsn: str) -> Iterator[Finding]:
    """Workers are alive, switched on, and of the schema's version."""
    yield from first_few(
        problem(
            f"worker {row['worker']} has been silent for {duration(row['silent'])}"
            + (f" and holds {jobs(row['running'])}" if row["running"] else ""),
            f"look at box {row['host']}: systemctl status 'qwf-agent@*'; if it is gone for good, "
            f"it is forgotten after a day, or now: qwf worker forget {row['worker']}",
        )
        for row in many(
            conn,
            "select d.* from qwf.dead_workers d join qwf.fleet f using (worker)"
            " where f.state = 'dead' order by d.worker",
        )
    )
    for row in many(
        conn,
        "select * from qwf.worker_controls where desired_state = 'off'"
        " and (until is null or until > qwf.now()) order by host_label, queue",
    ):
        why = f": {row['reason']}" if row["reason"] else ""
        yield note(
            f"{row['host_label']} {row['queue']} is switched off by {row['requested_by']}{why}",
            f"qwf worker on --host {row['host_label']} --queue {row['queue']}; if the box is gone "
            f"for good: qwf worker forget --host {row['host_label']} --all",
        )
    yield from first_few(
        problem(
            f"worker {row['worker']} keeps running old code, because its new code cannot be "
            f"imported: {row['why']}",
            f"mend the code on box {row['host']}: the agent tries again by itself",
        )
        for row in many(
            conn,
            "select f.worker, f.host, w.stats ->> 'code_problem' as why from qwf.fleet f"
            " join qwf.workers w on w.id = f.worker where f.state not in ('dead', 'stopped')"
            " and w.stats ? 'code_problem' order by f.worker",
        )
    )
    deployed = call(conn, "version")
    for row in many(
        conn,
        "select version, array_agg(distinct host order by host) as hosts from qwf.fleet"
        " where state not in ('dead', 'stopped') and version <> %s group by version",
        (deployed,),
    ):
        yield note(
            f"version {row['version']} runs on {', '.join(row['hosts'])}; the schema is {deployed}",
            "upgrade them one box at a time: docs/operations.md, Upgrade",
        )


def model_servers(conn: Connection, dsn: str) -> Iterator[Finding]:
    """Model servers work."""
    query = "select * from qwf.servers where state = any (%s) order by host, queue, server"
    troubled = many(conn, query, (list(draw.TROUBLE),))
    yield from first_few(_troubled(row) for row in troubled if row["state"] != "failed")
    for row in [row for row in troubled if row["state"] == "failed"][:MAX_SHOWN]:
        yield note(
            f"{_failure(row, 'has failed')}; it starts again soon",
            f"qwf servers --host {row['host']}",
        )
    yield from first_few(_lacking(row) for row in many(conn, LACKING))
    yield from first_few(
        problem(
            f"box {row['host']}: several workers run the same model servers "
            f"({draw.brief(', '.join(row['names']))}), so each may load a model on the same card",
            "stop one of the agents, or give each its own qwf.toml (QWF_CONFIG)",
        )
        for row in many(conn, TWICE)
    )


def _lacking(row: dict[str, Any]) -> Finding:
    """A model that a server cannot serve. What its agent says ends with what to do."""
    what, _, advice = row["why"].partition(": ")
    return problem(f"model server {row['server']} on {row['host']}: {draw.brief(what)}", advice)


def _troubled(server: dict[str, Any]) -> Finding:
    """What is wrong with a model server that does not start again soon, and what to do."""
    host = server["host"]
    if server["state"] == "gone":
        advice = f"start it, or remove it from qwf.toml on {host}"
        return problem(_failure(server, "does not answer"), advice)
    model = server["model"] or next(iter(server["models"]), "MODEL")
    return problem(
        _failure(server, "is broken"),
        f"read the whole error: qwf servers --host {host} --json; correct it, then: "
        f"qwf worker load {model} --host {host} --queue {server['queue']}",
    )


def _failure(server: dict[str, Any], what: str) -> str:
    """The name of a model server, what it does, and the first line of its error."""
    error = draw.brief((server["error"] or "").partition("\n")[0])
    return f"model server {server['server']} on {server['host']} {what}{error and ': ' + error}"


def options(conn: Connection, dsn: str) -> Iterator[Finding]:
    """What is enqueued has the options that tasks declare."""
    found = many(conn, MISSING)
    for row in found[:MAX_SHOWN]:
        what = f"{row['kind']} {row['name']}"
        if row["count"] > 1:
            what += f" and {row['count'] - 1} more"
        yield note(f"{what}: {missing_options.declaration(row)}", missing_options.advice(row))
    if len(found) > MAX_SHOWN:
        yield note(f"and {len(found) - MAX_SHOWN} more of that kind")


def schedules(conn: Connection, dsn: str) -> Iterator[Finding]:
    """Schedules fire, and questions are answered."""
    for row in many(
        conn, "select name, last_error from qwf.schedules where enabled and last_error is not null"
    ):
        yield problem(
            f"schedule {row['name']} could not enqueue: {draw.brief(row['last_error'])}",
            "correct it: qwf schedule add",
        )
    old = many(
        conn,
        "select count(*) as count, max(age) as age from qwf.pending_inputs where age > %s",
        (OLD_QUESTION,),
    )[0]
    if old["count"]:
        yield note(
            f"{old['count']} questions wait, the oldest for {duration(old['age'])}", "qwf inputs"
        )
