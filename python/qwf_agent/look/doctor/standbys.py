"""Data that a failover to a standby would lose: standbys, synchronous commits, slots."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from psycopg.rows import DictRow

from qwf_agent.look import draw
from qwf_agent.look.connection import Connection, many
from qwf_agent.look.doctor.findings import Finding, duration, note, problem, query_value

BEHIND_BYTES = 64 << 20  # WAL that a standby does not have yet
BEHIND = timedelta(seconds=10)  # how long it takes until a standby has a commit
KEPT_BYTES = 4 << 30  # WAL that a slot keeps for its reader
PAGE = "docs/high-availability.md"
# A backup that is being taken is no standby.
STANDBYS = """
select coalesce(nullif(application_name, ''), host(client_addr), 'a standby') as name,
  state, sync_state, flush_lag as late,
  coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), flush_lsn), 0)::float8 as bytes
from pg_stat_replication
where state is distinct from 'backup'
order by 1
"""
SLOTS = """
select slot_name as name, slot_type, active, wal_status,
  coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0)::float8 as bytes
from pg_replication_slots
where not temporary
order by 1
"""
NAMES = "select setting from pg_settings where name = 'synchronous_standby_names'"
# As new sessions of this login have it, not as this one does.
COMMIT = "select reset_val from pg_settings where name = 'synchronous_commit'"
KEEPING_NOTHING = {
    "off": "commits wait for no disk and no standby",
    "local": "commits wait for no standby",
}


def standbys(conn: Connection, dsn: str) -> Iterator[Finding]:
    """A failover to a standby forgets nothing."""
    if query_value(conn, "select pg_is_in_recovery()"):
        yield note(
            "this server is a standby: only its primary knows what a failover would forget, and "
            "what vacuum has left",
            "run qwf doctor there, too",
        )
        return
    rows, slots, names = many(conn, STANDBYS), many(conn, SLOTS), query_value(conn, NAMES)
    if not rows and not names and not any(slot["slot_type"] == "physical" for slot in slots):
        return
    sees = query_value(conn, "select pg_has_role(current_user, 'pg_read_all_stats', 'usage')")
    if rows and not sees:
        yield note(
            "this login sees that there are standbys, but not whether they are synchronous",
            "grant pg_read_all_stats to it, if it may see the statements of everybody",
        )
    else:
        yield from _waiting(names, rows, query_value(conn, COMMIT))
        yield from _lagging(rows)
    yield from _slots(slots)


def _waiting(names: str, rows: list[DictRow], commit: str) -> Iterator[Finding]:
    """The standbys that a commit waits for."""
    if not names:
        yield note(
            "no standby is synchronous: a failover forgets the enqueues and the results of the "
            "last moments, though they were acknowledged",
            f"set synchronous_standby_names, or with Patroni synchronous_mode: {PAGE}",
        )
        return
    if commit in KEEPING_NOTHING:
        yield problem(
            f"synchronous_commit is {commit}: {KEEPING_NOTHING[commit]}, so a failover forgets "
            "what was acknowledged in the last moments",
            "alter system set synchronous_commit = on; select pg_reload_conf();",
        )
        return
    if not any(row["sync_state"] in ("sync", "quorum") for row in rows):
        yield problem(
            f"no standby of synchronous_standby_names ({names}) is connected: every enqueue and "
            "every report waits for it",
            "start the standby, or take its name out of synchronous_standby_names",
        )
    if commit == "remote_write":
        yield note(
            "synchronous_commit is remote_write: a standby has what was acknowledged in memory. If "
            "its machine and that of the primary stop at once, a failover forgets it",
            "alter system set synchronous_commit = on; select pg_reload_conf();",
        )


def _lagging(rows: list[DictRow]) -> Iterator[Finding]:
    """Standbys that do not follow."""
    for row in rows:
        if row["state"] != "streaming":
            yield problem(
                f"standby {row['name']} does not stream yet ({row['state']}): do not fail over to "
                "it",
                "wait; if it stays so, read the log of the standby",
            )
        elif row["bytes"] > BEHIND_BYTES or (row["late"] or timedelta()) > BEHIND:
            late = f" and {duration(row['late'])}" if row["late"] else ""
            waits = row["sync_state"] in ("sync", "quorum")
            yield problem(
                f"standby {row['name']} is {draw.size(row['bytes'])}{late} behind: "
                + ("commits wait for it" if waits else "a failover to it forgets that much"),
                "look at the network and the disk of the standby",
            )


def _slots(slots: list[DictRow]) -> Iterator[Finding]:
    """Slots whose reader is too far behind. Those without a reader: see snapshots."""
    for slot in slots:
        if slot["wal_status"] in ("unreserved", "lost"):
            yield problem(
                f"replication slot {slot['name']} has lost WAL that its standby needs",
                "make the standby again (with Patroni: patronictl reinit), or raise "
                "max_slot_wal_keep_size before the next time",
            )
        elif slot["active"] and slot["bytes"] > KEPT_BYTES:
            yield problem(
                f"replication slot {slot['name']} keeps {draw.size(slot['bytes'])} of WAL for a "
                "reader that is slow",
                "look at the network and the disk of the standby, or set max_slot_wal_keep_size",
            )
