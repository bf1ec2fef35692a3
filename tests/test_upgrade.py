"""A rehearsal of the first upgrade: a pretend release, three changes reworked, and back again.

The scripts are reworked by stock sqitch, as CONTRIBUTING says. One database is upgraded by `qwf
migrate` while an agent of the release before works, another by sqitch; both end up the same.
"""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from qwf_agent import __version__, migrate
from support.harness import Database, StartAgent, agents, until
from support.servers import ROOT, Server
from support.sqitch import IDENTITY, dump, needs_sqitch, sqitch
from support.tools import tool

pytestmark = needs_sqitch

VERSION = "functions/shared/version"
CLAIM = "functions/claim/claim"
ENQUEUE = "functions/enqueue/enqueue"
NEWER = re.sub(r"\d+$", lambda m: str(int(m[0]) + 1), __version__)


@dataclass(frozen=True)
class Release:
    """A checkout with a tag, and with three changes after it."""

    folder: Path

    @property
    def plan(self) -> Path:
        return self.folder / "sql" / "sqitch.plan"

    def rework(self, change: str, old: str, new: str) -> None:
        """Rework a function as CONTRIBUTING says, and edit its body."""
        deploy, revert = tool("rework").rework(self.folder, change, "The next release")
        text = deploy.read_text()
        assert text.count(old) == 1
        deploy.write_text(text.replace(old, new))
        assert revert.read_text() == text.replace("-- Deploy", "-- Revert", 1)


@pytest.fixture
def release(tmp_path: Path) -> Release:
    found = Release(tmp_path / "checkout")
    shutil.copytree(ROOT / "sql", found.folder / "sql", ignore=shutil.ignore_patterns("tests"))
    shutil.copy(ROOT / "sqitch.conf", found.folder)
    sqitch(found.folder, "tag", "v0.1.0", "-n", "The first release")
    return found


@pytest.fixture
def next_release(release: Release, monkeypatch: pytest.MonkeyPatch) -> Release:
    """The release, and three functions that were changed since."""
    for name, value in IDENTITY.items():
        monkeypatch.setenv(name, value)
    release.rework(VERSION, __version__, NEWER)
    release.rework(CLAIM, "\nbegin\n", "\nbegin\n  -- of the next release\n")
    release.rework(
        ENQUEUE,
        "max_losses int default null)",
        "max_losses int default null, note text default '')",
    )
    # another signature is another function, and no name may stand for two
    sql = release.folder / "sql"
    for file in (sql / f"{ENQUEUE}.sql", sql / "revert" / f"{ENQUEUE}.sql"):
        text = file.read_text()
        file.write_text(text.replace("create or", "drop function qwf.enqueue;\n\ncreate or"))
    return release


@pytest.fixture
def upgraded_dsn(empty_dsn: str, release: Release) -> str:
    """A database of the release, before its upgrade."""
    migrate.deploy(empty_dsn, plan=release.plan, to="@v0.1.0")
    return empty_dsn


@pytest.fixture
def start(upgraded_dsn: str, tmp_path: Path) -> Iterator[StartAgent]:
    with agents(upgraded_dsn, tmp_path) as started:
        yield started


class Producer(threading.Thread):
    """Enqueues jobs one after another until it is told to stop."""

    def __init__(self, dsn: str) -> None:
        super().__init__()
        self.dsn = dsn
        self.jobs: list[int] = []
        self.done = threading.Event()

    def run(self) -> None:
        with psycopg.connect(self.dsn, autocommit=True) as conn:
            while not self.done.wait(0.01):
                row = conn.execute("select qwf.enqueue('add', '{\"a\": 1, \"b\": 2}')").fetchone()
                assert row
                self.jobs.append(row[0])


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
    upgraded_dsn: str, next_release: Release, start: StartAgent
) -> None:
    agent = start("--app", "bodies", "--queue", "default", "--slots", "2")
    base = Database(upgraded_dsn)
    producer = Producer(upgraded_dsn)
    producer.start()
    try:
        more_jobs_end(base)
        changed = migrate.deploy(upgraded_dsn, plan=next_release.plan)
        assert changed == [VERSION, CLAIM, ENQUEUE]
        assert base.one("select qwf.version()") == NEWER
        assert set(changed) < set(migrate.verify(upgraded_dsn, plan=next_release.plan))
        more_jobs_end(base)
        assert base.one("select qwf.enqueue('add', '{\"a\": 1, \"b\": 2}', note => 'new')")

        undone = migrate.revert(upgraded_dsn, to="@v0.1.0", plan=next_release.plan)
        assert undone == [ENQUEUE, CLAIM, VERSION]
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
    assert len(producer.jobs) > 80
    ended = "select array_agg(distinct (status::text, attempt)::text) from qwf.jobs"
    assert base.one(ended) == ["(completed,1)"]
    assert base.invariants() == []
    assert agent.stop() == 0
    assert "restart" not in agent.said()


def test_sqitch_upgrades_and_reverts_to_the_same_schemas(
    server: Server, upgraded_dsn: str, next_release: Release
) -> None:
    before = dump(server, upgraded_dsn)
    with server.database(server.new_name()) as theirs:
        their_dsn = server.dsn(theirs.dbname)
        sqitch(next_release.folder, "deploy", "--no-verify", dsn=their_dsn)
        migrate.deploy(upgraded_dsn, plan=next_release.plan)
        after = dump(server, upgraded_dsn)
        assert after != before
        assert dump(server, their_dsn) == after
        sqitch(next_release.folder, "revert", "-y", "--to", "@v0.1.0", dsn=their_dsn)
        migrate.revert(upgraded_dsn, to="@v0.1.0", plan=next_release.plan)
        assert dump(server, upgraded_dsn) == before
        assert dump(server, their_dsn) == before
