"""The checks of `qwf doctor`, in the order they are printed. Each looks at one thing and yields
what it finds; it changes nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

from qwf_agent import __version__, migrate, show
from qwf_agent.agent import spoken
from qwf_agent.cli.session import Connection, call, many
from qwf_agent.doctor import drift, shipped
from qwf_agent.doctor.findings import Finding, note, problem

OLD_SNAPSHOT = timedelta(minutes=5)
OLD_EVENT = timedelta(minutes=1)
LATE = timedelta(minutes=1)  # for what a tick should have done
OLD_QUESTION = timedelta(days=1)
SKEW = timedelta(seconds=2)
DEAD_ROWS = 20_000  # and half of what is alive
WRAPAROUND = 1_500_000_000  # transactions, of 2 ^ 31
ROLES = ("qwf_admin", "qwf_producer", "qwf_worker", "qwf_viewer")
GRANTS_AGAIN = "as the owner of the schema: qwf migrate grants | psql"
TOLD = 5  # of the same kind one by one

Check = Callable[[Connection, str], Iterator[Finding]]


def server(conn: Connection, dsn: str) -> Iterator[Finding]:
    """Version, durability, room for connections."""
    if conn.info.server_version < migrate.OLDEST_SERVER * 10_000:
        yield problem(
            f"PostgreSQL {conn.info.parameter_status('server_version')} is too old",
            f"upgrade the server to {migrate.OLDEST_SERVER} or newer",
        )
    settings = _settings(conn, "fsync", "full_page_writes", "synchronous_commit", "max_connections")
    for name in ("fsync", "full_page_writes"):
        if settings[name] == "off":
            yield problem(
                f"{name} is off: a crash of the machine may destroy the database",
                f"alter system set {name} = on; select pg_reload_conf();",
            )
    if settings["synchronous_commit"] == "off":
        yield problem(
            "synchronous_commit is off for everybody: finished work may be forgotten in a crash",
            "set it on; agents switch it off by themselves where nothing is lost by it",
        )
    used = _one(conn, "select count(*) from pg_stat_activity where backend_type = 'client backend'")
    if used > 0.9 * int(settings["max_connections"]):
        yield problem(
            f"{used} of {settings['max_connections']} connections are in use",
            "raise max_connections, or put PgBouncer before the producers: docs/operations.md",
        )


def clock(conn: Connection, dsn: str) -> Iterator[Finding]:
    """This box and the server agree on the time."""
    before = time.time()
    there: datetime = _one(conn, "select clock_timestamp()")
    here = datetime.fromtimestamp((before + time.time()) / 2, timezone.utc)
    apart = abs(there - here)
    if apart > SKEW:
        yield problem(
            f"the clock of this box and that of the server are {_long(apart)} apart",
            "let both follow NTP: timedatectl set-ntp true. Leases go by the server's clock alone, "
            "but times in logs and schedules read wrong",
        )


def schema(conn: Connection, dsn: str) -> Iterator[Finding]:
    """What is deployed is what this version has."""
    if _one(conn, "select to_regnamespace('qwf')") is None:
        yield problem("this database has no qwf schema", "qwf migrate deploy")
        return
    there = call(conn, "version")
    if spoken(there) != spoken(__version__):
        yield problem(
            f"the schema is {there}, this qwf is {__version__}: they do not speak to each other",
            "one of them is to be upgraded: docs/operations.md, Upgrade",
        )
    elif there != __version__:
        yield note(f"the schema is {there}, this qwf is {__version__}", "qwf migrate deploy")
    try:
        changes = migrate.status(dsn)
    except migrate.MigrateError as error:
        yield note(str(error))
        return
    by_state = {state: [c for c in changes if c.state == state] for state in ("pending", "unknown")}
    if all(change.state == "pending" for change in changes):
        yield note(
            "qwf migrate did not deploy this schema, so whether it is whole is not known here"
        )
    elif by_state["pending"]:
        first = by_state["pending"][0].change
        yield problem(
            f"an upgrade is pending: {len(by_state['pending'])} changes, the first {first}",
            "qwf migrate deploy",
        )
    if by_state["unknown"]:
        yield problem(
            f"{len(by_state['unknown'])} deployed changes are unknown here: a newer qwf did it",
            "upgrade qwf on this box: pip install --upgrade qwf",
        )


def changed_by_hand(conn: Connection, dsn: str) -> Iterator[Finding]:
    """Functions, tables and indexes are as they were shipped."""
    yield from _some(drift.find(conn))


def roles(conn: Connection, dsn: str) -> Iterator[Finding]:
    """The four roles, and who may execute and read what."""
    rows = many(
        conn, "select rolname, rolcanlogin from pg_roles where rolname = any (%s)", (list(ROLES),)
    )
    there = {row["rolname"] for row in rows}
    for role in ROLES:
        if role not in there:
            yield problem(
                f"role {role} is missing",
                f"create role {role} nologin;  then, {GRANTS_AGAIN}",
            )
    grants = [
        (role, f"qwf.{signature.removeprefix('qwf.')}")
        for signature, names in shipped.read().grants.items()
        for role in names & there
    ]
    missing = many(
        conn,
        "select g.role, g.function from unnest(%s::text[], %s::text[]) g(role, function)"
        " where to_regprocedure(g.function) is not null"
        " and not has_function_privilege(g.role, g.function, 'execute')",
        ([role for role, _ in grants], [function for _, function in grants]),
    )
    yield from _some(
        problem(
            f"{row['role']} may not execute {row['function']}",
            f"grant execute on function {row['function']} to {row['role']};",
        )
        for row in missing
    )
    yield from _some(
        problem(
            f"everybody may execute {row['function']}",
            f"revoke all on function {row['function']} from public;",
        )
        for row in many(
            conn,
            "select p.oid::regprocedure::text as function from pg_proc p"
            " where p.pronamespace = 'qwf'::regnamespace and exists ("
            " select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a"
            " where a.grantee = 0)",
        )
    )
    if "qwf_viewer" in there:
        yield from _some(
            problem(
                f"qwf_viewer may not read qwf.{row['relname']}",
                GRANTS_AGAIN,
            )
            for row in many(
                conn,
                "select relname from pg_class where relnamespace = 'qwf'::regnamespace"
                " and relkind in ('r', 'v')"
                " and not has_any_column_privilege('qwf_viewer', oid, 'select')",
            )
        )
        if _one(conn, "select has_column_privilege('qwf_viewer', 'qwf.jobs', 'token', 'select')"):
            yield problem(
                "qwf_viewer may read the tokens of running jobs, and so could end them",
                GRANTS_AGAIN,
            )


def settings(conn: Connection, dsn: str) -> Iterator[Finding]:
    """Leases, heartbeats and the like fit each other."""
    row = many(conn, "select * from qwf.settings")[0]
    change = "update qwf.settings set {} = '...';"
    if row["heartbeat"] * 2 > row["lease"]:
        yield problem(
            f"heartbeat {_long(row['heartbeat'])} is too long for lease {_long(row['lease'])}: "
            "one late beat and the work is taken away",
            f"at most half of the lease: {change.format('heartbeat')}",
        )
    if row["worker_stale"] < row["heartbeat"] * 2:
        yield problem(
            f"worker_stale {_long(row['worker_stale'])} is shorter than two heartbeats: living "
            "workers are taken for dead",
            change.format("worker_stale"),
        )
    if row["tick"] > row["lease"]:
        yield problem(
            "tick is longer than the lease: lost work waits for it", change.format("tick")
        )
    if row["poll"] > timedelta(minutes=1):
        yield note(
            f"poll is {_long(row['poll'])}: a lost wake-up costs that long", change.format("poll")
        )
    for queue in many(
        conn, "select * from qwf.queues where lease < %s order by name", (row["heartbeat"] * 2,)
    ):
        yield problem(
            f"queue {queue['name']}: its lease of {_long(queue['lease'])} is shorter than two "
            f"heartbeats of {_long(row['heartbeat'])}",
            f"select qwf.create_queue('{queue['name']}', lease => '...');",
        )


def vacuum(conn: Connection, dsn: str) -> Iterator[Finding]:
    """Autovacuum keeps up with dead rows."""
    values = _settings(conn, "autovacuum", "track_counts")
    for name, value in values.items():
        if value == "off":
            yield problem(
                f"{name} is off: dead rows pile up and every claim walks over them",
                f"alter system set {name} = on; select pg_reload_conf();",
            )
    for row in many(
        conn,
        "select relname from pg_class where relnamespace = 'qwf'::regnamespace"
        " and exists (select from unnest(reloptions) o where o in"
        " ('autovacuum_enabled=false', 'autovacuum_enabled=off'))",
    ):
        yield problem(
            f"autovacuum is off for qwf.{row['relname']}",
            f"alter table qwf.{row['relname']} reset (autovacuum_enabled);",
        )
    for row in many(
        conn,
        "select relname, n_dead_tup, n_live_tup, last_autovacuum, pg_relation_size(relid) as size"
        " from pg_stat_user_tables where schemaname = 'qwf'"
        " and n_dead_tup > greatest(%s, n_live_tup / 2) order by n_dead_tup desc",
        (DEAD_ROWS,),
    ):
        last = f"vacuumed at {show.moment(row['last_autovacuum'])}" if row["last_autovacuum"] else (
            "never vacuumed"
        )  # fmt: skip
        yield problem(
            f"qwf.{row['relname']} has {row['n_dead_tup']} dead rows, {row['n_live_tup']} live "
            f"({show.size(row['size'])}, {last})",
            f"see snapshots below; then: vacuum (verbose, analyze) qwf.{row['relname']};",
        )
    age = _one(
        conn,
        "select max(age(relfrozenxid)) from pg_class"
        " where relnamespace = 'qwf'::regnamespace and relkind = 'r'",
    )
    if age and age > WRAPAROUND:
        yield problem(
            f"transaction ids run out: {age} of 2147483647 are used", "vacuum freeze; soon"
        )


def snapshots(conn: Connection, dsn: str) -> Iterator[Finding]:
    """Nothing old keeps dead rows from being removed."""
    for row in many(
        conn,
        "select pid, usename, application_name, state, clock_timestamp() - xact_start as age"
        " from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'"
        " and (backend_xmin is not null or backend_xid is not null)"
        " and clock_timestamp() - xact_start > %s order by xact_start",
        (OLD_SNAPSHOT,),
    ):
        who = row["application_name"] or "psql or the like"
        yield problem(
            f"{row['usename']} ({who}, pid {row['pid']}) has had a transaction open for "
            f"{_long(row['age'])}, {row['state']}: dead rows stay",
            f"let it commit, or: select pg_terminate_backend({row['pid']});",
        )
    for row in many(
        conn,
        "select gid, clock_timestamp() - prepared as age from pg_prepared_xacts"
        " where database = current_database() and clock_timestamp() - prepared > %s",
        (OLD_SNAPSHOT,),
    ):
        yield problem(
            f"prepared transaction {row['gid']} has waited for {_long(row['age'])}: dead rows stay",
            f"commit prepared or rollback prepared '{row['gid']}';",
        )
    for row in many(
        conn,
        "select slot_name, active, pg_wal_lsn_diff(case when pg_is_in_recovery()"
        " then pg_last_wal_receive_lsn() else pg_current_wal_lsn() end, restart_lsn) as behind"
        " from pg_replication_slots where not active",
    ):
        behind = f", {show.size(float(row['behind']))} of WAL so far" if row["behind"] else ""
        yield problem(
            f"replication slot {row['slot_name']} has no reader: it keeps WAL{behind}",
            f"start its standby, or: select pg_drop_replication_slot('{row['slot_name']}');",
        )


def ticking(conn: Connection, dsn: str) -> Iterator[Finding]:
    """Somebody calls tick(), and what is due happens."""
    last = _one(
        conn, "select to_timestamp(last_value / 1000.0) from qwf.last_tick where last_value > 0"
    )
    way = "start an agent; or on a box without one: qwf tick --loop"
    silent = None if last is None else call(conn, "now") - last
    if silent is not None and silent > LATE:
        yield problem(f"the last tick was {_long(silent)} ago: nothing that is due happens", way)
    lapsed = _one(
        conn,
        "select count(*) from qwf.jobs"
        " where status = 'running' and lease_expires_at < qwf.now() - %s",
        (LATE,),
    )
    if lapsed:
        yield problem(f"{_jobs(lapsed)} lost the lease and were not taken back", way)
    due = _one(
        conn,
        "select count(*) from qwf.jobs where status = 'scheduled' and run_at < qwf.now() - %s",
        (LATE,),
    )
    if due:
        yield problem(f"{_jobs(due)} came due and stayed where they were", way)
    for row in many(
        conn, "select name, next_at from qwf.schedules where next_at < qwf.now() - %s", (LATE,)
    ):
        yield problem(f"schedule {row['name']} was due at {show.moment(row['next_at'])}", way)


def runs(conn: Connection, dsn: str) -> Iterator[Finding]:
    """Events are applied, and check_invariants() is empty."""
    for row in many(
        conn,
        "select run_id, error from qwf.outbox where poisoned_at is not null order by id limit %s",
        (TOLD,),
    ):
        yield problem(
            f"run {row['run_id']}: an event could not be applied: {show.brief(row['error'])}",
            f"read the reason, put it right, then: qwf retry run {row['run_id']}",
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
            f"{old['count']} events wait to be applied, the oldest for {_long(old['age'])} "
            f"(run {old['run']})",
            "does anybody tick? Is a transaction open that holds the run? qwf tick says what fails",
        )
    yield from _some(
        problem(
            f"{row['invariant']}: {row['subject']}, {show.brief(row['detail'])}",
            "this is a defect of qwf, or somebody wrote to its tables: report it",
        )
        for row in many(conn, "select * from qwf.check_invariants()")
    )


def queues(conn: Connection, dsn: str) -> Iterator[Finding]:
    """Work has somebody to take it."""
    for row in many(conn, "select * from qwf.queue_depth where queued > 0 order by queue"):
        name, waits = row["queue"], _jobs(row["queued"], "wait")
        if row["paused"]:
            yield note(f"queue {name} is paused and {waits}", f"qwf queue resume {name}")
        elif not row["workers"]:
            off = many(
                conn,
                "select distinct host from qwf.fleet where queue = %s and state = 'off'",
                (name,),
            )
            hosts = ", ".join(sorted(one["host"] for one in off))
            if off:
                yield note(
                    f"queue {name}: {waits} and its workers are switched off ({hosts})",
                    f"qwf worker on {off[0]['host']} {name}",
                )
                continue
            yield problem(
                f"queue {name}: {waits} and no live worker serves it, the oldest for "
                f"{_long(row['oldest_wait'])}",
                f"qwf agent --queue {name} --nodes PACKAGE (or --app); or: qwf workers --all",
            )
    served = "select queue from qwf.queue_depth where workers > 0 and not paused"
    yield from _some(
        problem(
            f"job {row['id']} ({row['task']}, queue {row['queue']}) suits no live worker",
            f"qwf why {row['id']}",
        )
        for row in many(
            conn,
            f"select * from qwf.unassignable_jobs where queue in ({served})"  # noqa: S608
            " order by id limit 100",
        )
    )


def workers(conn: Connection, dsn: str) -> Iterator[Finding]:
    """Workers live, are on, and of the version of the schema."""
    yield from _some(
        problem(
            f"worker {row['worker']} has been silent for {_long(row['silent'])}"
            + (f" and holds {_jobs(row['running'])}" if row["running"] else ""),
            f"look at box {row['host']}: systemctl status 'qwf-agent@*'; gone for good: it is "
            "forgotten after a day",
        )
        for row in many(
            conn,
            "select d.* from qwf.dead_workers d where d.silent < interval '1 day' and not exists ("
            " select from qwf.fleet f where f.host = d.host and f.queue = d.queue"
            " and f.state not in ('dead', 'stopped')) order by d.worker",
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
            f"qwf worker on {row['host_label']} {row['queue']}",
        )
    there = call(conn, "version")
    for row in many(
        conn,
        "select version, array_agg(distinct host order by host) as hosts from qwf.fleet"
        " where state not in ('dead', 'stopped') and version <> %s group by version",
        (there,),
    ):
        yield note(
            f"version {row['version']} runs on {', '.join(row['hosts'])}; the schema is {there}",
            "upgrade them one box at a time: docs/operations.md, Upgrade",
        )


def schedules(conn: Connection, dsn: str) -> Iterator[Finding]:
    """Schedules fire, questions get answers."""
    for row in many(
        conn, "select name, last_error from qwf.schedules where enabled and last_error is not null"
    ):
        yield problem(
            f"schedule {row['name']} could not enqueue: {show.brief(row['last_error'])}",
            "add it again as it should be: qwf schedule add",
        )
    old = many(
        conn,
        "select count(*) as count, max(age) as age from qwf.pending_inputs where age > %s",
        (OLD_QUESTION,),
    )[0]
    if old["count"]:
        yield note(
            f"{old['count']} questions wait, the oldest for {_long(old['age'])}", "qwf inputs"
        )


CHECKS: dict[str, Check] = {
    "server": server,
    "clock": clock,
    "schema": schema,
    "drift": changed_by_hand,
    "roles": roles,
    "settings": settings,
    "vacuum": vacuum,
    "snapshots": snapshots,
    "tick": ticking,
    "runs": runs,
    "queues": queues,
    "workers": workers,
    "schedules": schedules,
}
WITHOUT_SCHEMA = ("server", "clock", "schema")


def _settings(conn: Connection, *names: str) -> dict[str, str]:
    rows = many(conn, "select name, setting from pg_settings where name = any (%s)", (list(names),))
    return {row["name"]: row["setting"] for row in rows}


def _one(conn: Connection, query: Any, parameters: tuple[Any, ...] = ()) -> Any:
    row = conn.execute(query, parameters).fetchone()
    return None if row is None else next(iter(row.values()))


def _long(length: timedelta) -> str:
    return show.duration(length.total_seconds())


def _jobs(count: int, verb: str = "") -> str:
    one = count == 1
    return f"{count} job{'' if one else 's'}" + (f" {verb}{'s' if one else ''}" if verb else "")


def _some(findings: Any) -> Iterator[Finding]:
    """The first of many of a kind, and how many more there are."""
    all_of_them = list(findings)
    yield from all_of_them[:TOLD]
    if len(all_of_them) > TOLD:
        yield problem(
            f"and {len(all_of_them) - TOLD} more of that kind", "qwf doctor --json has all"
        )
