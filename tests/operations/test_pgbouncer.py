"""Behind a real PgBouncer: transaction pooling for callers of functions, session pooling for agents
that want to be woken, and for migrations."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import psycopg
import pytest
from click.testing import CliRunner

from qwf_agent import App, migrate
from qwf_agent.cli import qwf
from support import bouncer as pgbouncer
from support.bouncer import POOL, Bouncer
from support.harness import Agent, Database, StartAgent, agents, until
from support.thorough import THOROUGH

TASKS = ("--app", "bodies", "--queue", "default")


@pytest.fixture
def bouncer(dsn: str) -> Iterator[Bouncer]:
    """A PgBouncer before the fresh database of `dsn`."""
    with pgbouncer.bouncer(dsn) as running:
        yield running


@pytest.fixture
def empty_bouncer(empty_dsn: str) -> Iterator[Bouncer]:
    """A PgBouncer before a database with nothing in it."""
    with pgbouncer.bouncer(empty_dsn) as running:
        yield running


@pytest.fixture
def base(dsn: str) -> Iterator[Database]:
    """The database itself, past PgBouncer."""
    database = Database(dsn)
    with database.conn:
        yield database


@pytest.fixture
def start(bouncer: Bouncer, tmp_path: Path) -> Iterator[StartAgent]:
    """Starts agents; each names its own pool."""
    with agents(bouncer.own, tmp_path) as started:
        yield started


def enqueue_through(dsn: str, count: int) -> None:
    """Enqueue as an application does, every job in a transaction of its own."""
    with psycopg.connect(dsn, prepare_threshold=None) as conn:
        for _ in range(count):
            conn.execute("select qwf.enqueue('noop')")
            conn.commit()


def outcome(base: Database) -> dict[str, int]:
    rows = base.conn.execute("select status::text, count(*) from qwf.jobs group by status")
    return {row["status"]: row["count"] for row in rows}


def test_many_producers_share_few_connections(bouncer: Bouncer, base: Database) -> None:
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        for done in [pool.submit(enqueue_through, bouncer.shared, 10) for _ in range(16)]:
            done.result(60)
    assert outcome(base) == {"queued": 160}
    servers = base.one(
        "select count(*) from pg_stat_activity where datname = current_database()"
        " and backend_type = 'client backend' and pid <> pg_backend_pid()"
    )
    assert servers <= POOL + 1  # and that of the first try whether it answers


def test_asyncpg_shares_connections_if_it_keeps_no_statements(
    bouncer: Bouncer, base: Database
) -> None:
    async def produce() -> None:
        conn = await asyncpg.connect(
            host="127.0.0.1", port=bouncer.port, user="any", database="shared",
            statement_cache_size=0,
        )  # fmt: skip
        for _ in range(5):
            async with conn.transaction():
                await App().task("noop")(print).enqueue_async(conn)
        await conn.close()

    async def produce_all() -> None:
        await asyncio.gather(*(produce() for _ in range(4 * POOL)))

    asyncio.run(produce_all())
    assert base.one("select count(*) from qwf.jobs") == 20 * POOL


def test_an_agent_with_a_session_of_its_own_is_woken(
    bouncer: Bouncer, base: Database, start: StartAgent
) -> None:
    start(*TASKS, "--poll", "600")
    until(lambda: base.one("select count(*) from qwf.sleepers") == 1, "the agent to fall asleep")
    enqueue_through(bouncer.shared, 1)
    until(lambda: outcome(base) == {"completed": 1}, "the job to be done")


def test_an_agent_that_shares_connections_is_woken_through_a_session(
    bouncer: Bouncer, base: Database, start: StartAgent
) -> None:
    """Transaction mode for claims and reports, session mode for LISTEN."""
    options = ("--poll", "600", "--listen-dsn", bouncer.own)
    agent = start(*TASKS, *options, QWF_DSN=bouncer.shared)
    until(lambda: base.one("select count(*) from qwf.sleepers") == 1, "the agent to fall asleep")
    enqueue_through(bouncer.shared, 1)
    until(lambda: outcome(base) == {"completed": 1}, "the job to be done")
    bouncer.restart()
    until(lambda: base.one("select count(*) from qwf.sleepers") == 1, "it to fall asleep again")
    base.conn.execute("update qwf.settings set tick = '2 s'")
    until(lambda: "settings of default have changed" in agent.said(), "it to hear again")
    assert agent.stop() == 0


def test_an_agent_that_shares_connections_polls_and_claims_and_reports(
    bouncer: Bouncer, base: Database, start: StartAgent
) -> None:
    for _ in range(POOL + 2):
        start(*TASKS, "--poll", "0.2", QWF_DSN=bouncer.shared)
    enqueue_through(bouncer.shared, 100)
    until(lambda: outcome(base) == {"completed": 100}, "the jobs to be done")
    assert base.invariants() == []


def test_an_agent_that_shares_connections_reports_and_claims_in_one_call(
    bouncer: Bouncer, base: Database, start: StartAgent
) -> None:
    nodes = [
        {"id": f"n{i}", "node": "noop", "queue": "default", "depends_on": [f"n{i - 1}"] * (i > 0)}
        for i in range(30)
    ]
    steps = [{"id": "s", "kind": "pipeline", "pipeline": "chain"}]
    for kind, definition in (("pipeline", {"nodes": nodes}), ("workflow", {"steps": steps})):
        base.one(f"select qwf.register_{kind}(%s)", json.dumps({"name": "chain", **definition}))
    base.conn.execute(f"alter database {base.conn.info.dbname} set track_functions = 'pl'")
    agent = start(*TASKS, "--poll", "0.1", QWF_DSN=bouncer.shared)
    base.one("select qwf.enqueue_run('chain')")
    until(lambda: outcome(base) == {"completed": 30}, "the run to be done")
    assert agent.stop() == 0
    query = "select calls from pg_stat_user_functions where funcname = 'finish_and_claim'"
    until(lambda: (base.one(query) or 0) > 15, "the calls to be counted")
    assert base.invariants() == []


def test_the_settings_of_a_call_stay_with_its_transaction(
    bouncer: Bouncer, base: Database, start: StartAgent
) -> None:
    """The agent sees that the session is not its own: PgBouncer has no process for it."""
    for setting in (
        "intervalstyle = 'iso_8601'",
        "default_transaction_isolation = 'repeatable read'",
    ):
        base.conn.execute(f"alter database {base.conn.info.dbname} set {setting}")  # type: ignore[arg-type]
    start(*TASKS, "--poll", "0.1", QWF_DSN=bouncer.shared)
    enqueue_through(bouncer.shared, 20)
    until(lambda: outcome(base) == {"completed": 20}, "the jobs to be done")
    with psycopg.connect(bouncer.shared, autocommit=True, prepare_threshold=None) as conn:
        for _ in range(20):
            assert conn.execute("show synchronous_commit").fetchone() == ("on",)
            assert conn.execute("show statement_timeout").fetchone() == ("0",)
            assert conn.execute("show intervalstyle").fetchone() == ("iso_8601",)
            assert conn.execute("show default_transaction_isolation").fetchone() == (
                "repeatable read",
            )


def pause_and_resume(bouncer: Bouncer) -> None:
    """A producer waits meanwhile, and gets no error."""
    bouncer.pause()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(enqueue_through, bouncer.shared, 1)
        with pytest.raises(concurrent.futures.TimeoutError):
            waiting.result(0.5)
        bouncer.resume()
        waiting.result(60)


def reload(bouncer: Bouncer) -> None:
    bouncer.reload()
    enqueue_through(bouncer.shared, 1)


def restart(bouncer: Bouncer) -> None:
    bouncer.restart()
    enqueue_through(bouncer.shared, 1)


def restart_gently(bouncer: Bouncer) -> None:
    bouncer.restart_gently()
    enqueue_through(bouncer.shared, 1)


@pytest.mark.parametrize(
    ("upset", "pool"),
    [
        (upset, pool)
        for n, upset in enumerate((restart, restart_gently, reload, pause_and_resume))
        for pool in (("own", "shared") if THOROUGH else ("own", "shared")[n % 2 :][:1])
    ],
)
def test_an_agent_survives_what_happens_to_pgbouncer(
    bouncer: Bouncer, base: Database, start: StartAgent, tmp_path: Path, pool: str,
    upset: Callable[[Bouncer], None],
) -> None:  # fmt: skip
    """Also a body that runs meanwhile: its report is not lost."""
    agent: Agent = start(*TASKS, "--slots", "2", "--poll", "0.2", QWF_DSN=getattr(bouncer, pool))
    go_on = tmp_path / "go on"
    running = base.enqueue("counting", {"steps": 1, "file": str(go_on)})
    base.running(running)
    upset(bouncer)
    until(lambda: outcome(base) == {"completed": 1, "running": 1}, "the job enqueued meanwhile")
    go_on.touch()
    until(lambda: outcome(base) == {"completed": 2}, "the body that ran meanwhile")
    # a claim whose answer was cut off counts as an attempt of the other job
    assert base.one("select attempt from qwf.jobs order by id limit 1") == 1
    assert agent.stop() == 0
    assert base.invariants() == []


def test_commands_work_through_shared_connections(bouncer: Bouncer, base: Database) -> None:
    def run(*words: str) -> Any:
        return CliRunner().invoke(qwf, [*words, "--dsn", bouncer.shared])

    job = run("enqueue", "noop").stdout.strip()
    assert run("wait", "job", job, "--timeout", "2").exit_code == 124  # asks again and again
    assert json.loads(run("jobs", "--json").stdout)[0]["id"] == int(job)
    assert run("doctor", "--only", "drift", "--only", "queues").exit_code == 1
    assert run("metrics").exit_code == 0
    assert run("cancel", "job", job).exit_code == 0


def test_the_schema_is_deployed_and_verified_through_a_pool_by_session(
    empty_bouncer: Bouncer, empty_dsn: str
) -> None:
    deployed = migrate.deploy(empty_bouncer.own)
    assert len(deployed) == len(migrate.read_plan().changes)
    assert migrate.deploy(empty_bouncer.own) == []
    assert migrate.verify(empty_bouncer.own) == deployed
    assert migrate.revert(empty_bouncer.own) == deployed[::-1]
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        assert conn.execute("select to_regnamespace('qwf')").fetchone() == (None,)
        locks = "select count(*) from pg_locks where locktype = 'advisory'"
        assert conn.execute(locks).fetchone() == (0,)


def test_a_pool_by_transaction_is_refused_to_migrations(
    empty_bouncer: Bouncer, empty_dsn: str
) -> None:
    with pytest.raises(migrate.MigrateError, match="pool in session mode"):
        migrate.deploy(empty_bouncer.shared)
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        assert conn.execute("select to_regnamespace('qwf_migrations')").fetchone() == (None,)
    migrate.deploy(empty_bouncer.own)
    assert all(change.state == "deployed" for change in migrate.status(empty_bouncer.shared))
