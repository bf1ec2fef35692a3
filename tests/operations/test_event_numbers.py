"""Numbers of events over a failover to a standby that missed the end, and over a crash."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from qwf_agent import embedded, events, migrate
from support.harness import until
from support.servers import own_server
from support.standby import Pair, pair

Db = psycopg.Connection[Any]
NUMBER = "select _qwf.number_events()"


@pytest.fixture
def servers() -> Iterator[Pair]:
    with pair() as found:
        yield found


def happens(db: Db, *subjects: str) -> None:
    for subject in subjects:
        db.execute(
            "insert into _qwf.event_log (kind, subject) values ('fired', %s)",
            (subject,),
        )
    db.execute(NUMBER)


def read(address: str, after: int, number: int) -> list[tuple[int, str | None]]:
    """The next events of a reader; a connection of its own, as after every failover."""
    with psycopg.connect(address, autocommit=True) as conn:
        found = events.follow(conn, after, look_s=0.2)
        return [(event.seq, event.subject) for event in itertools.islice(found, number)]


def test_a_standby_that_missed_the_end_tells_its_readers(servers: Pair) -> None:
    happens(servers.db, *(f"kept {n}" for n in range(20)))
    servers.settle()
    servers.copy.execute("alter system set primary_conninfo = ''")
    servers.copy.execute("select pg_reload_conf()")
    receives = "select from pg_stat_wal_receiver"
    until(lambda: servers.copy.execute(receives).fetchone() is None, "the end of the stream")
    happens(servers.db, *(f"lost {n}" for n in range(30)))
    assert read(servers.primary, 49, 1) == [(50, "lost 29")]

    servers.copy.execute("select pg_promote()")
    with pytest.raises(events.EventsMissed):  # nobody has ticked yet: it only has 20
        read(servers.standby, 50, 1)
    happens(servers.copy, "new 0", "new 1")
    assert read(servers.standby, 50, 3) == [
        (1000020, "qwf"),
        (1000021, "new 0"),
        (1000022, "new 1"),
    ]
    assert [seq for seq, _ in read(servers.standby, 18, 4)] == [19, 20, 1000020, 1000021]
    ((reason, kept),) = servers.copy.execute(
        "select detail ->> 'reason', detail -> 'last_kept' from qwf.events where seq = 1000020"
    ).fetchall()
    assert (reason, kept) == ("failover", 20)
    assert servers.copy.execute("select * from qwf.check_invariants()").fetchall() == []


def test_a_crash_gives_no_number_again() -> None:
    with own_server(embedded.binaries()) as server, server.database("qwf_crash") as janitor:
        address = server.dsn(janitor.dbname)
        migrate.deploy(address)
        with psycopg.connect(address, autocommit=True) as db:
            db.execute("set synchronous_commit = off")  # as an agent may
            happens(db, "a", "b")
            assert read(address, 0, 2) == [(1, "a"), (2, "b")]
        server.stop_immediate()
        server.start()
        with psycopg.connect(address, autocommit=True) as db:
            happens(db, "c")
        assert read(address, 2, 1) == [(3, "c")], "the same server goes on"
