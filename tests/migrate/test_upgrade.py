"""A rehearsal of the first upgrade: a pretended release, the next one, and back again.

One database is upgraded by `qwf migrate` while an agent of the release before works, and another
one under load and a long query, before its agents are replaced one by one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest

from qwf_agent import __version__, migrate
from qwf_agent.look.doctor import checks
from qwf_agent.web.pages import doctor
from support.harness import DEADLINE_S, PACKAGE, USER, Database, StartAgent, agents, until
from support.sources import NEXT, NEXT_CHANGE, Sources


@pytest.fixture
def start(upgraded_dsn: str, tmp_path: Path) -> Iterator[StartAgent]:
    with agents(upgraded_dsn, tmp_path) as started:
        yield started


def package_of(sources: Sources, folder: Path) -> Path:
    """A copy of the package with these sources."""
    shutil.copytree(PACKAGE / "qwf_agent", folder / "qwf_agent")
    shutil.copytree(sources.folder / "sql", folder / "qwf_agent" / "sql")
    return folder


def newer_package(sources: Sources, folder: Path) -> Path:
    """A copy of the package, as the next release has it."""
    package_of(sources, folder)
    file = folder / "qwf_agent" / "__init__.py"
    file.write_text(file.read_text().replace(f'"{__version__}"', f'"{NEXT}"'))
    return folder


class Producer(threading.Thread):
    """Enqueues jobs one after another until it is told to stop."""

    def __init__(self, dsn: str) -> None:
        super().__init__()
        self.dsn = dsn
        self.jobs: list[int] = []
        self.done = threading.Event()
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            with psycopg.connect(self.dsn, autocommit=True) as conn:
                while not self.done.wait(0.03):
                    self.jobs.append(self.enqueue(conn))
        except psycopg.Error as error:
            self.error = error

    def enqueue(self, conn: psycopg.Connection[Any]) -> int:
        row = conn.execute("select qwf.enqueue('add', '{\"a\": 1, \"b\": 2}')").fetchone()
        assert row
        return int(row[0])


class Marking(Producer):
    """Enqueues jobs whose bodies write into a file of their own how often they ran."""

    def __init__(self, dsn: str, folder: Path) -> None:
        super().__init__(dsn)
        self.folder = folder

    def enqueue(self, conn: psycopg.Connection[Any]) -> int:
        args = json.dumps({"folder": str(self.folder), "name": f"{self.name} {len(self.jobs)}"})
        row = conn.execute("select qwf.enqueue('mark', %s)", [args]).fetchone()
        assert row
        return int(row[0])


def more_jobs_end(base: Database) -> None:
    """Wait until jobs that are enqueued from now on have ended."""
    newest = base.one("select coalesce(max(id), 0) from qwf.jobs")
    until(
        lambda: base.one(
            "select count(*) > 20 from qwf.jobs where id > %s and status = 'completed'", newest
        ),
        "jobs of the time after",
    )


def test_an_upgrade_under_a_working_agent_and_back_again(
    upgraded_dsn: str, next_release: Sources, start: StartAgent
) -> None:
    agent = start("--app", "bodies", "--queue", "default", "--slots", "2")
    base = Database(upgraded_dsn)
    producer = Producer(upgraded_dsn)
    producer.start()
    try:
        more_jobs_end(base)
        changed = migrate.deploy(upgraded_dsn, plan=next_release.plan)
        assert changed == [NEXT_CHANGE]
        assert base.one("select qwf.version()") == NEXT
        assert changed == migrate.verify(upgraded_dsn, plan=next_release.plan)[1:]
        more_jobs_end(base)
        assert base.one("select qwf.enqueue('add', '{\"a\": 1, \"b\": 2}', note => 'new')")

        undone = migrate.revert(upgraded_dsn, to="@v0.1.0", plan=next_release.plan)
        assert undone == changed
        assert base.one("select qwf.version()") == __version__
        more_jobs_end(base)
        with pytest.raises(psycopg.errors.UndefinedFunction):
            base.one("select qwf.enqueue('add', note => 'new')")

        assert migrate.deploy(upgraded_dsn, plan=next_release.plan) == changed
        more_jobs_end(base)
    finally:
        producer.done.set()
        producer.join()
    until(
        lambda: base.one(
            "select count(*) = 0 from qwf.jobs where status not in ('completed', 'failed')"
        ),
        "the last jobs",
    )
    assert producer.error is None
    assert len(producer.jobs) > 80
    ended = "select array_agg(distinct (status::text, attempt)::text) from qwf.jobs"
    assert base.one(ended) == ["(completed,1)"]
    assert base.invariants() == []
    assert agent.stop() == 0
    assert "restart" not in agent.said()


NOT_OF_THE_TEST_SERVER = [name for name in checks.NAMES if name != "server"]  # fsync is off

# Runs each command that it is given, and prints their exit codes, standard output and error.
COMMANDS = """
import json, sys
from click.testing import CliRunner
from qwf_agent.cli import qwf
done = [CliRunner().invoke(qwf, words) for words in json.loads(sys.argv[1])]
print(json.dumps([(one.exit_code, one.stdout, one.stderr, repr(one.exception)) for one in done]))
"""
DOCTOR = ["doctor", "--json", *(f"--only={name}" for name in NOT_OF_THE_TEST_SERVER)]
VERIFY = ["migrate", "verify"]


class Side:
    """One side of a roll-out: a package with its plan, whose commands look at the database."""

    def __init__(self, package: Path, dsn: str) -> None:
        self.environment = {**os.environ, "PYTHONPATH": str(package), "QWF_DSN": dsn}

    def run(self, *commands: list[str]) -> list[Ended]:
        """Run commands one after another, in one process."""
        done = subprocess.run(
            [sys.executable, "-c", COMMANDS, json.dumps(commands)],
            env=self.environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        ended = [Ended(*one) for one in json.loads(done.stdout)]
        assert {one.raised.partition("(")[0] for one in ended} <= {"None", "SystemExit"}
        return ended

    def looks(self) -> tuple[tuple[int, dict[str, list[str]]], Ended]:
        """Findings of the doctor, and the end of verifying. Checks that all metrics can be read."""
        doctor, verified, metrics = self.run(DOCTOR, VERIFY, ["metrics"])
        assert metrics.code == 0
        assert "qwf_unreadable 0\n" in metrics.out
        return doctor.found(), verified


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str
    raised: str

    def found(self) -> tuple[int, dict[str, list[str]]]:
        """The exit code of the doctor, and what schema and drift say."""
        rows = {row["check"]: row["findings"] for row in json.loads(self.out)}
        said = {
            name: [finding["what"] for finding in rows[name]]
            for name in ("schema", "drift")
            if rows[name]
        }
        return self.code, said


def test_both_sides_of_a_roll_out_are_told_the_truth(
    upgraded_dsn: str, tagged: Sources, next_release: Sources, start: StartAgent, tmp_path: Path
) -> None:
    package = newer_package(next_release, tmp_path / "newer")
    older = Side(package_of(tagged, tmp_path / "older"), upgraded_dsn)
    newer = Side(package, upgraded_dsn)
    base = Database(upgraded_dsn)
    options = ("--app", "bodies", "--queue", "default")
    start(*options, "--host", "attic")
    until(
        lambda: base.one("select count(*) from qwf.worker_overview where state = 'idle'"),
        "an agent",
    )

    (code, said), verified = newer.looks()
    assert code == 1
    assert said["schema"] == [f"an upgrade is pending: 1 changes, the first {NEXT_CHANGE}"]
    assert said["drift"] == ["not compared: the schema is older than this qwf, so it has to differ"]
    assert verified.code == 3
    assert f"1 pending, the first {NEXT_CHANGE}: qwf migrate deploy" in verified.err
    found, verified = older.looks()
    assert (found, verified.code) == ((0, {}), 0)

    assert newer.run(["migrate", "deploy"])[0].code == 0
    start(*options, "--host", "cellar", PYTHONPATH=os.pathsep.join(map(str, (package, USER))))
    until(
        lambda: base.one("select count(*) = 2 from qwf.worker_overview where state = 'idle'"), "two"
    )
    found, refused = older.looks()
    assert found == (0, {
        "schema": [f"the schema is newer: it is {NEXT}, this qwf is {__version__}"],
        "drift": ["not compared: the schema is newer than this qwf, so it has to differ"],
    })  # fmt: skip
    assert refused.code == 3
    assert "the schema is newer: 1 deployed changes are unknown here" in refused.err
    found, verified = newer.looks()
    assert (found, verified.code) == ((0, {}), 0)
    on_the_page = {result.name: result for result in doctor._run(upgraded_dsn)}
    assert on_the_page["schema"].state == on_the_page["drift"].state == "note"
    base.conn.execute("select qwf.enqueue('add', '{\"a\": 1}')")
    until(lambda: base.one("select count(*) from qwf.jobs where status = 'completed'"), "a job")


def test_boxes_are_upgraded_one_by_one_under_load(
    upgraded_dsn: str, next_release: Sources, start: StartAgent, tmp_path: Path
) -> None:
    """Database first, then the agents; somebody reads the busiest table for long meanwhile."""
    marks = tmp_path / "marks"
    marks.mkdir()
    newer = newer_package(next_release, tmp_path / "newer")
    paths = os.pathsep.join(map(str, (newer, USER)))
    options = ("--app", "bodies", "--queue", "default", "--slots", "2")
    boxes = {host: start(*options, "--host", host) for host in ("attic", "cellar", "desk")}
    base = Database(upgraded_dsn)
    producers = [Marking(upgraded_dsn, marks) for _ in range(2)]
    for producer in producers:
        producer.start()
    try:
        more_jobs_end(base)
        with ThreadPoolExecutor(1) as pool, psycopg.connect(upgraded_dsn) as reader:
            reader.execute("select count(*) from qwf.jobs")  # its lock stays until it commits
            said: list[str] = []
            deploying = pool.submit(
                migrate.deploy, upgraded_dsn, plan=next_release.plan, say=said.append
            )
            until(lambda: any("long transaction" in line for line in said), "the deploy to wait")
            more_jobs_end(base)
            assert not deploying.done()
            reader.commit()
            assert deploying.result(DEADLINE_S) == [NEXT_CHANGE]
        more_jobs_end(base)
        boxes["late"] = start(*options, "--host", "late")  # its box has the old release still
        for host in list(boxes):
            assert boxes[host].stop() == 0
            more_jobs_end(base)
            start(*options, "--host", host, PYTHONPATH=paths)
        versions = "select array_agg(distinct version) from qwf.workers where stopped_at is null"
        assert base.one(versions) == [NEXT]
        more_jobs_end(base)
    finally:
        for producer in producers:
            producer.done.set()
        for producer in producers:
            producer.join()
    assert [producer.error for producer in producers] == [None, None]
    waiting = "select count(*) = 0 from qwf.jobs where finished_at is null"
    until(lambda: base.one(waiting), "the last jobs")
    made = sum(len(producer.jobs) for producer in producers)
    ended = "select array_agg(distinct (status::text, losses)::text), count(*) from qwf.jobs"
    assert base.conn.execute(ended).fetchone() == {"array_agg": ["(completed,0)"], "count": made}
    # An agent that stops gives back what it has claimed and not begun: that is an attempt, too.
    other = (
        "select count(*) = 0 from qwf.job_attempts where outcome not in ('completed', 'released')"
    )
    assert base.one(other)
    assert [file.read_text() for file in marks.iterdir()] == ["x"] * made
    assert base.invariants() == []
    for box in boxes.values():
        assert " ERROR " not in box.said(), box.said()
