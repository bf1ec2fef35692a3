"""`qwf doctor` tells of a failover, with a real standby."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql
from psycopg.rows import DictRow, dict_row

from qwf_agent import embedded
from qwf_agent.look.doctor import standbys
from qwf_agent.look.doctor.findings import Finding
from support.harness import until
from support.servers import Server, own_server
from support.standby import standby_of

Db = psycopg.Connection[DictRow]
# This session and those that serve standbys have the settings that the server started with.
RESET = """
select from pg_settings where name = 'synchronous_standby_names' and reset_val = ''
and not exists (select from pg_stat_replication where sync_state <> 'async')
"""


@pytest.fixture(scope="module")
def primary() -> Iterator[Server]:
    """A server of this module's own: it gets settings that would stop the work of others."""
    with own_server(embedded.binaries()) as found:
        yield found


@pytest.fixture
def db(primary: Server) -> Iterator[Db]:
    with psycopg.connect(primary.dsn("postgres"), autocommit=True, row_factory=dict_row) as conn:
        yield conn
        conn.execute("alter system reset all")
        conn.execute("select pg_reload_conf()")
        until(lambda: conn.execute(RESET).fetchone() is not None, "the settings")


@pytest.fixture(scope="module")
def standby(primary: Server) -> Iterator[embedded.Cluster]:
    """A standby with a slot, called `near`."""
    with standby_of(primary, "near") as running:
        yield running


def found(db: Db) -> list[Finding]:
    return list(standbys.standbys(db, ""))


def configure(db: Db, **settings: str) -> None:
    """Change settings of the server, and wait until this session has them."""
    for name, value in settings.items():
        words = sql.SQL("alter system set {} = {}")
        db.execute(words.format(sql.Identifier(name), sql.Literal(value)))
    db.execute("select pg_reload_conf()")
    query = "select count(*) as n from pg_settings where (name, reset_val) in ({})"
    pairs = [sql.SQL("({}, {})").format(*map(sql.Literal, pair)) for pair in settings.items()]
    until(
        lambda: (
            db.execute(sql.SQL(query).format(sql.SQL(", ").join(pairs))).fetchone()  # type: ignore[arg-type]
            == {"n": len(settings)}
        ),
        "the settings",
    )


def until_synchronous(db: Db) -> None:
    query = "select from pg_stat_replication where sync_state = 'sync'"
    until(lambda: db.execute(query).fetchone() is not None, "a synchronous standby")


def test_a_server_without_standbys_gets_no_word(server: Server) -> None:
    with psycopg.connect(server.dsn(server.maintenance), row_factory=dict_row) as conn:
        assert found(conn) == []


def test_a_standby_that_nobody_waits_for_is_a_note(db: Db, standby: embedded.Cluster) -> None:
    (one,) = found(db)
    assert one.level == "note"
    assert one.what.startswith("no standby is synchronous: a failover forgets")
    assert "synchronous_standby_names" in one.advice


def test_a_synchronous_standby_forgets_nothing(db: Db, standby: embedded.Cluster) -> None:
    configure(db, synchronous_standby_names="near")
    until_synchronous(db)
    assert found(db) == []


@pytest.mark.parametrize(
    ("value", "level", "says"),
    [
        ("off", "problem", "synchronous_commit is off: commits wait for no disk and no standby"),
        ("local", "problem", "synchronous_commit is local: commits wait for no standby"),
        ("remote_write", "note", "a standby has what was acknowledged in memory"),
    ],
)
def test_it_says_what_a_commit_waits_for(
    db: Db, standby: embedded.Cluster, value: str, level: str, says: str
) -> None:
    configure(db, synchronous_standby_names="near", synchronous_commit=value)
    until_synchronous(db)
    (one,) = found(db)
    assert one.level == level
    assert says in one.what
    db.execute(one.advice.split(";")[0])  # type: ignore[arg-type]
    configure(db, synchronous_commit="on")
    assert found(db) == []


def test_commits_that_wait_for_a_standby_that_is_not_there_are_found(db: Db) -> None:
    configure(db, synchronous_standby_names="far")
    (one,) = found(db)
    assert one.level == "problem"
    assert "(far) is connected: every enqueue and every report waits for it" in one.what


def test_a_standby_that_is_behind_is_found(
    db: Db, standby: embedded.Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standbys, "BEHIND_BYTES", -1)
    assert any("behind: a failover to it forgets that" in one.what for one in found(db))
    configure(db, synchronous_standby_names="near")
    until_synchronous(db)
    (one,) = found(db)
    assert one.what.endswith("behind: commits wait for it")


def test_a_slot_that_keeps_much_is_found(
    db: Db, standby: embedded.Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standbys, "KEPT_BYTES", -1)
    assert any("replication slot near keeps" in one.what for one in found(db))


def test_a_slot_that_has_lost_its_log_is_found() -> None:
    """On a server of its own, whose other slots lose theirs, too."""
    with (
        own_server(embedded.binaries()) as fresh,
        psycopg.connect(fresh.dsn("postgres"), autocommit=True, row_factory=dict_row) as db,
    ):
        db.execute("select pg_create_physical_replication_slot('late', true)")
        configure(db, max_slot_wal_keep_size="1")

        def lost() -> bool:
            db.execute("select pg_logical_emit_message(false, 'qwf', 'x')")
            db.execute("select pg_switch_wal()")
            db.execute("checkpoint")
            query = "select from pg_replication_slots where wal_status = 'lost'"
            return db.execute(query).fetchone() is not None

        until(lost, "a slot that is lost")
        said = "replication slot late has lost WAL that its standby needs"
        assert said in [one.what for one in found(db)]


def test_a_login_that_may_not_see_standbys_is_told(db: Db, standby: embedded.Cluster) -> None:
    db.execute("create role looking")
    try:
        db.execute("set role looking")
        (one,) = found(db)
        assert "sees that there are standbys, but not whether" in one.what
    finally:
        db.execute("reset role")
        db.execute("drop role looking")


def test_a_standby_refers_to_its_primary(standby: embedded.Cluster) -> None:
    with psycopg.connect(standby.dsn("postgres"), row_factory=dict_row) as conn:
        (one,) = found(conn)
    assert one.level == "note"
    assert "this server is a standby" in one.what
