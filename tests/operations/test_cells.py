"""Several databases as cells: whose ids name them, and which of them a key belongs to."""

from __future__ import annotations

import subprocess
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qwf_agent import cell_for, embedded, migrate
from qwf_agent.migrate import Cell, MigrateError, read_cell
from support.interleave import until
from support.servers import Server

Db = psycopg.Connection[Any]
# What a text of Postgres holds, as long as a key can be.
KEYS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=125)


@pytest.fixture(scope="module")
def one_db(server: Server, template: str) -> Iterator[Db]:
    """A database for tests that write nothing."""
    with (
        server.database(server.new_name(), template) as janitor,
        psycopg.connect(server.dsn(janitor.dbname), autocommit=True) as conn,
    ):
        yield conn


def ids(db: Db) -> list[int]:
    """The ids of two jobs, a run and its node, all new."""
    db.execute(
        'select qwf.register_pipeline(\'{"name": "p", "nodes": [{"id": "n"}]}\'),'
        ' qwf.register_workflow(\'{"name": "w", "steps":'
        ' [{"id": "s", "kind": "pipeline", "pipeline": "p"}]}\')'
    )
    made = [
        db.execute(call).fetchall()[0][0]
        for call in (
            "select qwf.enqueue('t')",
            'select * from qwf.enqueue_many(\'[{"task": "t"}]\')',
            "select qwf.enqueue_run('w')",
        )
    ]
    nodes = db.execute("select id from qwf.jobs where run_id = %s", [made[2]]).fetchall()
    return [*made, *(row[0] for row in nodes)]


# Ids ----------------------------------------------------------------------------------------------


def test_the_ids_of_a_cell_name_it_and_no_two_cells_share_one(
    server: Server, template: str
) -> None:
    found: list[int] = []
    for number in (0, 1, 15):
        with server.database(server.new_name(), template) as janitor:
            dsn = server.dsn(janitor.dbname)
            assert migrate.deploy(dsn, cell=Cell(number, 16)) == []
            with psycopg.connect(dsn, autocommit=True) as db:
                assert db.execute("select * from qwf.cell()").fetchall() == [(number, 16)]
                made = ids(db)
                assert {one % 16 for one in made} == {number}
                assert db.execute("select * from qwf.check_invariants()").fetchall() == []
                found += made[:2] + made[3:]  # ids of jobs; those of runs are a series of their own
    assert len(set(found)) == len(found)


def test_without_a_cell_ids_are_as_ever(dsn: str, db: Db) -> None:
    assert migrate.deploy(dsn) == []
    assert db.execute("select * from qwf.cell()").fetchall() == [(0, 1)]
    assert ids(db) == [1, 2, 1, 3]


def test_a_database_stays_its_cell_once_it_has_given_out_an_id(dsn: str, db: Db) -> None:
    migrate.deploy(dsn, cell=Cell(2, 4))
    migrate.deploy(dsn, cell=Cell(3, 16))  # no id was given out yet
    with db.transaction(force_rollback=True):
        db.execute("select qwf.enqueue('t')")  # even one that nothing has
    migrate.deploy(dsn, cell=Cell(3, 16))
    migrate.deploy(dsn)
    for other in (Cell(4, 16), Cell(3, 32), Cell(0, 1)):
        with pytest.raises(MigrateError, match=r"given out ids.*it is cell 3 of 16.*new database"):
            migrate.deploy(dsn, cell=other)
    assert db.execute("select qwf.enqueue('t')").fetchone() == (19,)


def test_a_deploy_that_waits_for_a_producer_sees_the_id_it_took(
    dsn: str, connect: Callable[[], Db]
) -> None:
    """It asks again under its locks, because the producer had none when it asked first."""
    producer, watcher = connect(), connect()
    with ThreadPoolExecutor(1) as thread:
        producer.execute("begin; lock table qwf.jobs in row exclusive mode")
        deploying = thread.submit(migrate.deploy, dsn, cell=Cell(3, 16))
        waits = (
            "select count(*) from pg_locks where relation = 'qwf.jobs'::regclass and not granted"
        )
        until(lambda: deploying.done() or watcher.execute(waits).fetchone() == (1,))
        assert not deploying.done()
        producer.execute("select qwf.enqueue('t')")
        producer.execute("commit")
        with pytest.raises(MigrateError, match="given out ids"):
            deploying.result(120)
    assert watcher.execute("select id from qwf.jobs").fetchall() == [(1,)]


def test_a_database_at_work_is_refused_at_once(dsn: str, db: Db) -> None:
    """While somebody holds a lock that it would wait for."""
    with db.transaction():
        db.execute("select qwf.enqueue('t')")
        with pytest.raises(MigrateError, match="given out ids"):
            migrate.deploy(dsn, cell=Cell(3, 16))


def test_a_dump_keeps_the_cell(server: Server, dsn: str, db: Db, tmp_path: Path) -> None:
    if server.cluster is None:
        pytest.skip("pg_dump must match the server, and QWF_TEST_DSN names another one")
    migrate.deploy(dsn, cell=Cell(3, 16))
    ids(db)
    programs, dump = embedded.binaries(), tmp_path / "qwf.dump"
    engine = ("-n", "qwf", "-n", "_qwf")
    subprocess.run([programs / "pg_dump", "-Fc", *engine, "-f", dump, dsn], check=True, timeout=300)
    with server.database(server.new_name()) as janitor:
        restored = server.dsn(janitor.dbname)
        command = [programs / "pg_restore", "--exit-on-error", "-d", restored, dump]
        subprocess.run(command, check=True, timeout=300)
        with psycopg.connect(restored, autocommit=True) as other:
            assert other.execute("select * from qwf.cell()").fetchall() == [(3, 16)]
            assert other.execute("select qwf.enqueue('t') %% 16", []).fetchone() == (3,)
            assert other.execute("select * from qwf.check_invariants()").fetchall() == []


def test_the_printed_schema_sets_the_cell(empty_dsn: str) -> None:
    """Also where something else keeps the transaction; a second time it refuses to change it."""
    with psycopg.connect(empty_dsn) as conn:
        conn.execute(migrate.script(cell=Cell(5, 8), transaction=False).encode())
        conn.commit()
        assert conn.execute("select qwf.enqueue('t')").fetchone() == (5,)
        conn.commit()
        with pytest.raises(psycopg.Error, match="given out ids"):
            conn.execute(Cell(6, 8).script().read().encode())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("3", "write its number and how many"),
        ("-1/4", "write its number and how many"),
        ("a/b", "write its number and how many"),
        ("4/4", "numbered from 0, so the last of 4 is 3/4"),
        ("0/0", "1 to 1024 cells"),
        ("0/1025", "1 to 1024 cells"),
    ],
)
def test_a_cell_that_cannot_be_is_refused(text: str, why: str) -> None:
    with pytest.raises(MigrateError, match=why):
        read_cell(text)


# Keys ---------------------------------------------------------------------------------------------


@given(keys=st.lists(KEYS, max_size=20), cells=st.integers(1, 1024))
def test_sql_and_python_agree_on_the_cell_of_a_key(one_db: Db, keys: list[str], cells: int) -> None:
    query = "select qwf.cell_for(k.key, %s) from unnest(%s::text[]) with ordinality k (key, n)"
    rows = one_db.execute(f"{query} order by k.n", [cells, keys]).fetchall()  # type: ignore[arg-type]
    assert [row[0] for row in rows] == [cell_for(key, cells) for key in keys]
    assert [row[0] for row in rows] == [zlib.crc32(key.encode()) % cells for key in keys]


def test_sql_computes_what_postgres_18_computes(one_db: Db) -> None:
    if one_db.info.server_version < 180000:
        pytest.skip("this Postgres has no crc32()")
    query = """
        select count(*) from generate_series(1, 2000) n, lateral repeat(chr(n + 200), n % 150) k
        where qwf.cell_for(k, 1024) <> crc32(convert_to(k, 'UTF8')) % 1024"""
    assert one_db.execute(query).fetchone() == (0,)


@pytest.mark.parametrize("cells", [0, -1, 1025])
def test_a_number_of_cells_that_cannot_be_is_refused(cells: int) -> None:
    with pytest.raises(ValueError, match="1 to 1024"):
        cell_for("k", cells)
