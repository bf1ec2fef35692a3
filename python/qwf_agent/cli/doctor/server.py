"""Checks of the server: version and settings, clock, dead rows and what keeps them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

from qwf_agent import migrate
from qwf_agent.cli.doctor.findings import Finding, duration, note, problem, query_value
from qwf_agent.look import draw
from qwf_agent.look.connection import Connection, many

OLD_SNAPSHOT = timedelta(minutes=5)
SKEW = timedelta(seconds=2)
DEAD_ROWS = 20_000  # and half as many as live rows
# Sources of a setting, as pg_settings names them.
OF_THIS_LOGIN = ("user", "database user", "client", "session")
FULL_QUEUE = 0.05  # of 8 GiB; a healthy server uses none of it
WRAPAROUND = 1_500_000_000  # transactions, of 2 ^ 31


def server(conn: Connection, dsn: str) -> Iterator[Finding]:
    """Version, durability, free connections, room for notifications."""
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
            "synchronous_commit is off for all sessions: a crash may lose finished work",
            "set it on; agents switch it off themselves where that loses nothing",
        )
    yield from _takes_no_writes(conn)
    used = query_value(conn, "select sum(numbackends) from pg_stat_database")
    if used > 0.9 * int(settings["max_connections"]):
        yield problem(
            f"{used} of {settings['max_connections']} connections are in use",
            "raise max_connections, or put PgBouncer before the producers: docs/operations.md",
        )
    filled = query_value(conn, "select pg_notification_queue_usage()")
    if filled > FULL_QUEUE:
        yield problem(
            f"the queue of notifications is {filled:.0%} full: once it is full, every commit that "
            "notifies fails, so nothing can be enqueued",
            "a session that listens has had a transaction open for long: see snapshots below; "
            "the server's log names its pid",
        )


def _takes_no_writes(conn: Connection) -> Iterator[Finding]:
    """A setting that refuses all writes. Somebody may have set it for a login that only reads."""
    for row in many(
        conn,
        "select source, current_database() as database, current_user as login from pg_settings"
        " where name = 'default_transaction_read_only' and setting = 'on'",
    ):
        what = "default_transaction_read_only is on"
        if row["source"] in OF_THIS_LOGIN:
            yield note(
                f"{what} for this login: it can only read",
                "if an agent or a producer uses it: alter role"
                f" {row['login']} reset default_transaction_read_only;",
            )
            continue
        place = f"database {row['database']}" if row["source"] == "database" else "system"
        yield problem(
            f"{what} (set in: {row['source']}): nothing can be enqueued, claimed or finished",
            f"alter {place} reset default_transaction_read_only;"
            + (" select pg_reload_conf();" if place == "system" else ""),
        )


def clock(conn: Connection, dsn: str) -> Iterator[Finding]:
    """This box and the server agree on the time."""
    before = time.time()
    remote: datetime = query_value(conn, "select clock_timestamp()")
    local = datetime.fromtimestamp((before + time.time()) / 2, timezone.utc)
    apart = abs(remote - local)
    if apart > SKEW:
        yield problem(
            f"the clocks of this box and of the server are {duration(apart)} apart",
            "synchronize both with NTP: timedatectl set-ntp true. Leases use only the server's "
            "clock, but times in logs and schedules will look wrong",
        )


def vacuum(conn: Connection, dsn: str) -> Iterator[Finding]:
    """Autovacuum keeps up with dead rows."""
    values = _settings(conn, "autovacuum", "track_counts")
    for name, value in values.items():
        if value == "off":
            yield problem(
                f"{name} is off: dead rows pile up, and every claim reads them",
                f"alter system set {name} = on; select pg_reload_conf();",
            )
    for row in many(
        conn,
        "select relname from pg_class where relnamespace = 'qwf'::regnamespace::oid"
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
        last = f"vacuumed at {draw.moment(row['last_autovacuum'])}" if row["last_autovacuum"] else (
            "never vacuumed"
        )  # fmt: skip
        yield problem(
            f"qwf.{row['relname']} has {row['n_dead_tup']} dead rows, {row['n_live_tup']} live "
            f"({draw.size(row['size'])}, {last})",
            f"see snapshots below; then: vacuum (verbose, analyze) qwf.{row['relname']};",
        )
    age = query_value(
        conn,
        "select max(age(relfrozenxid)) from pg_class"
        " where relnamespace = 'qwf'::regnamespace::oid and relkind = 'r'",
    )
    if age and age > WRAPAROUND:
        yield problem(
            f"transaction ids are running out: {age} of 2147483647 are used", "soon: vacuum freeze;"
        )


def snapshots(conn: Connection, dsn: str) -> Iterator[Finding]:
    """No old transaction or slot keeps dead rows."""
    if not query_value(conn, "select pg_has_role(current_user, 'pg_read_all_stats', 'usage')"):
        yield note(
            "this login sees no transactions of other logins, only the dead rows that they keep",
            "grant pg_read_all_stats to it, if it may see the statements of everybody",
        )
    for row in many(
        conn,
        "select pid, usename, application_name, state, clock_timestamp() - xact_start as age"
        " from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'"
        " and (backend_xmin is not null or backend_xid is not null)"
        " and clock_timestamp() - xact_start > %s order by xact_start",
        (OLD_SNAPSHOT,),
    ):
        who = row["application_name"] or "no application_name"
        yield problem(
            f"{row['usename']} ({who}, pid {row['pid']}) has had a transaction open for "
            f"{duration(row['age'])}, {row['state']}: dead rows stay",
            f"let it commit, or: select pg_terminate_backend({row['pid']});",
        )
    for row in many(
        conn,
        "select gid, clock_timestamp() - prepared as age from pg_prepared_xacts"
        " where database = current_database() and clock_timestamp() - prepared > %s",
        (OLD_SNAPSHOT,),
    ):
        yield problem(
            f"prepared transaction {row['gid']} has been open for {duration(row['age'])}: "
            "dead rows stay",
            f"commit prepared or rollback prepared '{row['gid']}';",
        )
    for row in many(
        conn,
        "select slot_name, active, pg_wal_lsn_diff(case when pg_is_in_recovery()"
        " then pg_last_wal_receive_lsn() else pg_current_wal_lsn() end, restart_lsn) as behind"
        " from pg_replication_slots where not active",
    ):
        behind = f", {draw.size(float(row['behind']))} of WAL so far" if row["behind"] else ""
        yield problem(
            f"replication slot {row['slot_name']} has no reader: it keeps WAL{behind}",
            f"start its standby, or: select pg_drop_replication_slot('{row['slot_name']}');",
        )


def _settings(conn: Connection, *names: str) -> dict[str, str]:
    rows = many(conn, "select name, setting from pg_settings where name = any (%s)", (list(names),))
    return {row["name"]: row["setting"] for row in rows}
