"""One agent that serves several cells: it shares its room fairly, and while one cell is down the
others go on."""

from __future__ import annotations

import os
import shlex
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import psycopg
import pytest
from psycopg.rows import dict_row

from qwf_agent import embedded, migrate
from qwf_agent.agent.control import shared_policy
from qwf_agent.agent.opening import NotServed
from qwf_agent.agent.options import Address, AgentOptions
from qwf_agent.agent.served_database import ServedDatabase
from qwf_agent.agent.served_databases import ServedDatabases
from qwf_agent.agent.serving import Serving
from qwf_agent.migrate import Cell
from qwf_agent.servers.fleet import Orders
from support.harness import (
    PACKAGE,
    USER,
    Agent,
    Database,
    StartAgent,
    agents,
    alive,
    run_agent,
    until,
)
from support.servers import Server, deployed, own_server

OPTIONS = ("--app", "bodies", "--host", "box")
IMPATIENT = """
import qwf_agent.agent.shutdown
qwf_agent.agent.shutdown.REPORT_GRACE_S = 1.0  # instead of ten
"""
ONE_LISTEN = "--listen-dsn is given 1 times, for 2 databases: give one for each"


@pytest.fixture(scope="module")
def second() -> Iterator[tuple[Server, str]]:
    """A server of its own for the second cell, and its template: tests kill the server."""
    with own_server(embedded.binaries()) as server, deployed(server) as executor:
        yield server, executor.template_dbname


class Pair(NamedTuple):
    """Cells 0 and 1 of 4, each on a server of its own, and how to start an agent for both."""

    north: Database
    south: Database
    server: Server  # of south
    start: StartAgent

    @property
    def environment(self) -> dict[str, str]:
        """Variables that name both cells."""
        return {"QWF_CELLS": named(north=self.north.dsn, south=self.south.dsn)}

    def kill(self) -> None:
        """End the server of south with SIGKILL."""
        assert self.server.cluster is not None
        postmaster = self.server.cluster.postmaster()
        assert postmaster is not None
        os.kill(postmaster.pid, signal.SIGKILL)
        until(lambda: not self.is_there(), "the end of the server")

    def is_there(self) -> bool:
        """Return True if south answers."""
        try:
            psycopg.connect(self.south.dsn, connect_timeout=10).close()
        except psycopg.OperationalError:
            return False
        return True

    def bring_back(self) -> None:
        """Start the server of south again."""
        self.server.start()
        self.south.conn = psycopg.connect(self.south.dsn, autocommit=True, row_factory=dict_row)

    def agent(self, *options: str, **more: Any) -> Agent:
        """An agent that serves both."""
        return self.start(*OPTIONS, *options, **self.environment, **more)


def named(**cells: str) -> str:
    """The value of QWF_CELLS."""
    return " ".join(f"{name}={shlex.quote(dsn)}" for name, dsn in cells.items())


@pytest.fixture
def pair(
    server: Server, template: str, second: tuple[Server, str], tmp_path: Path
) -> Iterator[Pair]:
    other, other_template = second
    with ExitStack() as stack:
        north = stack.enter_context(server.database(server.new_name(), template)).dbname
        south = stack.enter_context(other.database(other.new_name(), other_template)).dbname
        dsns = server.dsn(north), other.dsn(south)
        bases = [Database(dsn) for dsn in dsns]
        for number, base in enumerate(bases):
            base.conn.execute(Cell(number, 4).script().read().encode())
        start = stack.enter_context(agents(dsns[0], tmp_path))
        made = Pair(bases[0], bases[1], other, start)
        try:
            yield made
        finally:
            if not made.is_there():
                made.bring_back()
            made.north.conn.close()
            made.south.conn.close()


def pid_in(file: Path) -> int:
    return int(until(lambda: file.exists() and file.read_text(), file.name))


def eventually(base: Database, query: str, *params: Any) -> None:
    until(lambda: base.one(query, *params), query)


def switch(base: Database, state: str, policy: str = "hard") -> None:
    base.one("select qwf.worker_control('box', 'default', %s, %s)", state, policy)


# Room ---------------------------------------------------------------------------------------------


def test_two_full_cells_share_one_slot(pair: Pair) -> None:
    query = "select qwf.enqueue('noop') from generate_series(1, 400)"
    for base in (pair.north, pair.south):
        base.conn.execute(query)
    pair.agent("--slots", "1", "--batch", "10")
    finished = []
    for base in (pair.north, pair.south):
        eventually(base, "select count(*) = 0 from qwf.jobs where finished_at is null")
        rows = base.conn.execute("select finished_at from qwf.job_attempts").fetchall()
        finished += [(row["finished_at"], base) for row in rows]
    finished.sort(key=lambda one: one[0])
    assert len(finished) == 800
    first = [base for _, base in finished[:400]]
    assert 100 < first.count(pair.north) < 300


def test_each_cell_has_the_box_as_its_own(pair: Pair) -> None:
    for base in (pair.north, pair.south):
        base.conn.execute("update qwf.settings set metrics = '0.2 s'")
    pair.agent("--queue", "cpu", "--queue", "default", "--slots", "3")
    for base in (pair.north, pair.south):
        query = "select queue from qwf.workers where host = 'box' and stopped_at is null"
        assert sorted(row["queue"] for row in base.conn.execute(query)) == ["cpu", "default"]
        eventually(base, "select bool_and((stats ->> 'slots')::int = 3) from qwf.workers")
        eventually(base, "select last_value > 0 from qwf.last_tick")
        eventually(base, "select count(*) > 0 from qwf.host_metrics where host = 'box'")


# A cell that is down ------------------------------------------------------------------------------


def test_while_one_server_is_gone_the_other_cell_goes_on_and_later_all_does(
    pair: Pair, tmp_path: Path
) -> None:
    agent = pair.agent("--slots", "3", "--lease", "20", "--durable-claims")
    file = tmp_path / "pid"
    long = pair.south.enqueue("telling", {"file": str(file), "seconds": 1})
    body = pid_in(file)
    marks = {
        base: [
            base.enqueue("mark", {"folder": str(tmp_path), "name": f"{name}{n}"})
            for n in range(100)
        ]
        for base, name in ((pair.north, "north"), (pair.south, "south"))
    }
    pair.kill()
    for _ in range(20):
        assert pair.north.ended(pair.north.enqueue("noop"))["status"] == "completed"
    until(lambda: "lost the database of south" in agent.said(), "the line about it")
    assert "lost the database of north" not in agent.said()
    assert not pair.is_there()
    assert alive(body), "the child goes on"
    pair.bring_back()
    assert pair.south.ended(long)["status"] == "completed"
    assert [one["outcome"] for one in pair.south.attempts(long)] == ["completed"]
    for base, jobs in marks.items():
        for job in jobs:
            assert base.ended(job)["status"] == "completed"
    made = sorted(tmp_path.glob("north*")) + sorted(tmp_path.glob("south*"))
    assert [file.read_text() for file in made] == ["x"] * 200
    assert pair.south.ended(pair.south.enqueue("noop"))["status"] == "completed"
    assert pair.north.invariants() == pair.south.invariants() == []
    until(lambda: "connected to the database of south again" in agent.said(), "the line about it")


def test_a_cell_that_is_down_at_the_start_is_served_when_it_is_there(pair: Pair) -> None:
    job = pair.south.enqueue("noop")
    pair.kill()
    agent = pair.agent()
    assert "not serving south yet: no database" in agent.said()
    assert pair.north.ended(pair.north.enqueue("noop"))["status"] == "completed"
    pair.bring_back()
    assert pair.south.ended(job)["status"] == "completed"
    assert "serving default of south, too" in agent.said()


def test_it_ends_in_time_while_one_cell_is_down(pair: Pair, tmp_path: Path) -> None:
    folder = tmp_path / "impatient"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(IMPATIENT)
    path = os.pathsep.join(map(str, (folder, PACKAGE, USER)))
    agent = pair.agent("--slots", "2", PYTHONPATH=path)
    file = tmp_path / "pid"
    pair.south.enqueue("telling", {"file": str(file), "seconds": 0.2})
    pid_in(file)
    pair.kill()
    job = pair.north.enqueue("telling", {"file": str(tmp_path / "other"), "seconds": 1})
    pid_in(tmp_path / "other")
    assert agent.stop() == 0
    assert pair.north.job(job)["status"] == "completed"
    assert pair.north.one("select count(*) from qwf.workers where stopped_at is null") == 0


def test_a_cell_that_is_down_is_not_empty(pair: Pair, tmp_path: Path) -> None:
    pair.kill()
    options = (*OPTIONS, "--until-empty", "--wait", "1")
    code, log = run_agent(tmp_path, *options, **pair.environment)
    assert code == 69, log
    assert "south: no database" in log


def test_it_stops_when_all_cells_are_empty(pair: Pair, tmp_path: Path) -> None:
    jobs = {base: [base.enqueue("noop") for _ in range(50)] for base in (pair.north, pair.south)}
    code, log = run_agent(tmp_path, *OPTIONS, "--until-empty", **pair.environment)
    assert code == 0, log
    for base, ids in jobs.items():
        assert {base.job(job)["status"] for job in ids} == {"completed"}


# Which databases ----------------------------------------------------------------------------------


def test_two_addresses_of_one_cell_are_refused(
    pair: Pair, server: Server, template: str, tmp_path: Path
) -> None:
    again = f"{pair.north.dsn} application_name=again"
    code, log = run_agent(tmp_path, *OPTIONS, "--dsn", pair.north.dsn, "--dsn", again)
    assert code == 78, log
    assert "is cell 0 of 4, too: name each database once" in log
    assert pair.north.one("select count(*) from qwf.workers where stopped_at is null") <= 1
    with server.database(server.new_name(), template) as janitor:
        alone = server.dsn(janitor.dbname)
        code, log = run_agent(tmp_path, *OPTIONS, "--dsn", pair.north.dsn, "--dsn", alone)
        assert code == 78, log
        assert "they are no cells of one system" in log


def test_a_second_one_that_turns_out_to_be_the_same_cell_is_left_alone(pair: Pair) -> None:
    migrate.deploy(pair.south.dsn, cell=Cell(0, 4))
    job = pair.south.enqueue("noop")
    pair.kill()
    agent = pair.agent()
    pair.bring_back()
    until(lambda: "not serving south: north is cell 0 of 4, too" in agent.said(), "the error")
    assert pair.north.ended(pair.north.enqueue("noop"))["status"] == "completed"
    assert pair.south.one("select count(*) from qwf.workers") == 0
    assert pair.south.job(job)["status"] == "queued"


def test_a_cell_whose_schema_does_not_fit_is_left_out(pair: Pair) -> None:
    pair.south.conn.execute(
        "create or replace function qwf.version() returns text language sql as $$select '99.0'$$"
    )
    agent = pair.agent()
    refused = "not serving south: the database has schema version 99.0"
    until(lambda: refused in agent.said(), "the error")
    until(lambda: "serving default of north for" in agent.said(), "the start")
    assert pair.north.ended(pair.north.enqueue("noop"))["status"] == "completed"


def test_a_database_that_has_become_another_cell_is_left_alone(pair: Pair) -> None:
    agent = pair.agent()
    assert pair.south.ended(pair.south.enqueue("noop"))["status"] == "completed"
    pair.south.conn.execute("alter sequence qwf.jobs_id_seq start with 4")
    pair.south.conn.execute("delete from qwf.workers")
    until(lambda: "it was cell 1 of 4, and is now cell 0 of 4" in agent.said(), "the error")
    job = pair.south.enqueue("noop")
    assert pair.north.ended(pair.north.enqueue("noop"))["status"] == "completed"
    assert pair.south.job(job)["status"] == "queued"
    assert pair.south.one("select count(*) from qwf.workers") == 0


def test_a_worker_whose_row_is_there_again_claims_again() -> None:
    """It had been barred when the row was gone, and the question which cell this is was lost."""

    class Worker:
        barred = True
        control = SimpleNamespace(unregistered=False)

    worker = Worker()
    cell = SimpleNamespace(workers=[worker], _reregistering={})
    ServedDatabase.reregister(cast("Any", cell), {}, draining=False)
    assert not worker.barred


def test_a_cell_without_one_of_the_queues_gets_no_registration(pair: Pair) -> None:
    pair.north.one("select qwf.create_queue('mail')")
    agent = pair.agent("--queue", "default", "--queue", "mail")
    until(lambda: "not serving south: " in agent.said(), "the error")
    assert pair.north.ended(pair.north.enqueue("noop"))["status"] == "completed"
    assert pair.south.one("select count(*) from qwf.workers where stopped_at is null") == 0


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--dsn", "host=a", "--dsn", "host=a"), "an address is given twice"),
        (("--dsn", "host=a", "--dsn", "host=b", "--listen-dsn", "host=c"), ONE_LISTEN),
    ],
)
def test_addresses_that_cannot_be_are_refused(
    options: tuple[str, ...], why: str, tmp_path: Path
) -> None:
    code, log = run_agent(tmp_path, *OPTIONS, *options)
    assert code == 78, log
    assert why in log


def test_the_cells_of_qwf_toml_are_served(pair: Pair, tmp_path: Path) -> None:
    lines = [f"{name} = {dsn!r}" for name, dsn in (("n", pair.north.dsn), ("s", pair.south.dsn))]
    (tmp_path / "qwf.toml").write_text("\n".join(["[cells]", *lines]))
    jobs = {base: base.enqueue("noop") for base in (pair.north, pair.south)}
    code, log = run_agent(tmp_path, *OPTIONS, "--until-empty")
    assert code == 0, log
    for base, job in jobs.items():
        assert base.job(job)["status"] == "completed"


def test_no_two_cells_of_an_agent_may_have_the_same_ids(tmp_path: Path) -> None:
    addresses = tuple(Address(name, f"host={name}") for name in "abc")
    options = AgentOptions(addresses, ("cpu",), "box", tmp_path)
    cells = ServedDatabases(options, None, dict)  # type: ignore[arg-type] # nothing connects
    a, b, c = cells
    cells._accept(a, 0, 4)
    cells._accept(b, 1, 4)
    for number, of, why in ((1, 4, "b is cell 1 of 4, too"), (2, 8, "a is one of 4")):
        with pytest.raises(NotServed, match=why):
            cells._accept(c, number, of)
    cells._accept(c, 2, 4)
    cells._accept(c, 2, 4)  # after another try


def test_the_first_cell_that_is_open_says_what_they_share(tmp_path: Path) -> None:
    addresses = tuple(Address(name, f"host={name}") for name in "ab")
    cells = ServedDatabases(AgentOptions(addresses, ("cpu",), "box", tmp_path), None, dict)  # type: ignore[arg-type]
    for cell in reversed(list(cells)):
        cell.opening.workers.append(cast("Any", SimpleNamespace(settings=cell.name)))
        assert cells.settings == cell.name


# Orders -------------------------------------------------------------------------------------------


def test_a_worker_that_is_off_in_one_cell_works_in_the_other(pair: Pair) -> None:
    agent = pair.agent("--slots", "1")
    child = pair.north.ended(pair.north.enqueue("whoami"))["output"]["pid"]
    switch(pair.north, "off")
    until(lambda: "box:default of north is off" in agent.said(), "the agent to know")
    waits = pair.north.enqueue("noop")
    assert pair.south.ended(pair.south.enqueue("whoami"))["output"]["pid"] == child
    assert pair.north.job(waits)["status"] == "queued"
    switch(pair.south, "off")
    until(lambda: not alive(child), "the child to go: it is off in all cells")
    switch(pair.north, "on")
    assert pair.north.ended(waits)["status"] == "completed"


def test_memory_is_free_once_a_queue_is_off_everywhere_and_its_last_body_has_ended(
    pair: Pair, tmp_path: Path
) -> None:
    options = ("--app", "bodies", "--queue", "gpu", "--queue", "cpu", "--gpu", "none")
    pair.start(*options, "--host", "box", **pair.environment)
    pair.north.enqueue("telling", {"file": str(tmp_path / "pid"), "seconds": 3}, queue="gpu")
    child = pid_in(tmp_path / "pid")
    off = "select qwf.worker_control('box', 'gpu', 'off', %s)"
    pair.north.one(off, "drain")
    pair.south.one(off, "hard")
    until(lambda: not alive(child), "the child to go, although the queue cpu is on")


@pytest.mark.parametrize(
    ("policies", "gentlest"),
    [
        (["hard", None], None),
        (["pause", "drain"], "pause"),
        (["hard", "drain"], "drain"),
        (["hard", "unknown"], "unknown"),
        (["hard"], "hard"),
    ],
)
def test_what_cells_share_is_treated_as_the_gentlest_wants(
    policies: list[str | None], gentlest: str | None
) -> None:
    class Policy:
        def __init__(self, policy: str | None) -> None:
            self.policy = policy

    assert shared_policy(map(Policy, policies)) == gentlest  # type: ignore[arg-type]


def test_what_was_last_set_for_the_servers_counts() -> None:
    class Worker:
        def __init__(self) -> None:
            self.control = SimpleNamespace(servers=Orders())

    applied: list[Orders] = []
    fleet = SimpleNamespace(apply=applied.append)
    serving = cast("Any", SimpleNamespace(fleet=fleet, _orders_applied={}))
    workers: Any = [Worker(), Worker()]
    first, second = Orders("one"), Orders("two")
    for worker, order in ((0, first), (1, second), (0, Orders())):
        workers[worker].control.servers = order
        for _ in "once", "and not again":
            Serving._apply_orders(serving, workers)
    assert applied == [first, second, Orders()]


def test_a_task_that_crashes_in_one_cell_is_not_held_in_the_other(pair: Pair) -> None:
    pair.agent("--slots", "1")
    for _ in range(6):
        pair.north.enqueue("die", {"number": int(signal.SIGSEGV)})
    held = "select count(*) from qwf.held_tasks where until is not null"
    until(lambda: pair.north.one(held), "the hold")
    assert pair.south.ended(pair.south.enqueue("noop"))["status"] == "completed"
    assert pair.south.one(held) == 0


def test_each_cell_gets_the_answer_to_its_own_order(pair: Pair) -> None:
    pair.start(
        *("--app", "modelling", "--queue", "gpu", "--gpu", "none", "--host", "box"),
        **pair.environment,
    )
    orders = {
        base: base.one("select qwf.request_model('box', 'gpu', 'flux', 'load')")
        for base in (pair.south, pair.north)
    }
    for base, order in orders.items():
        answered = "select answered_at is not null from qwf.model_requests where id = %s"
        eventually(base, answered, order)
        assert base.one("select error from qwf.model_requests where id = %s", order) is None
