"""The runbook of a restore, with real dumps, agents and files: nobody reads, writes or is handed
the files of somebody else."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from click.testing import CliRunner
from starlette.responses import StreamingResponse

from qwf_agent import embedded, migrate
from qwf_agent.cli import qwf
from qwf_agent.web.site import files, listed_file, send_file
from support.harness import Database, StartAgent, agents, until
from support.servers import ROOT, Server
from support.thorough import thorough

TEXT = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
TASKS = ("--app", "bodies", "--queue", "default")
NODE = {"id": "n", "node": "keeping", "inputs": {"secret": {"$from": "pipeline.secret"}}}
PIPELINE = {
    "name": "kept", "nodes": [{**NODE, "queue": "default"}],
    "inputs": {"type": "object", "properties": {"secret": {"type": "string"}}},
}  # fmt: skip
STEP = {
    "id": "s", "kind": "pipeline", "pipeline": "kept",
    "inputs": {"secret": {"$from": "secret"}},
}  # fmt: skip


class Shop:
    """A database, and the secret that each of its jobs was given."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.base = Database(dsn)
        self.secrets: dict[int, str] = {}  # by job

    def enqueue(self, name: str) -> list[int]:
        """Three jobs, and a run with a node and an out_dir of its own if `name` is a path."""
        jobs = [self.base.enqueue("keeping", {"secret": f"{name}/{n}"}) for n in range(3)]
        self.secrets |= {job: f"{name}/{n}" for n, job in enumerate(jobs)}
        return [*jobs, self.enqueue_run(name)]

    def enqueue_run(self, name: str, out_dir: str | None = None) -> int:
        self.base.one("select qwf.register_pipeline(%s)", json.dumps(PIPELINE))
        self.base.one(
            "select qwf.register_workflow(%s)", json.dumps({"name": "kept", "steps": [STEP]})
        )
        run = self.base.one(
            "select qwf.enqueue_run('kept', %s, out_dir => %s)",
            json.dumps({"secret": f"{name}/run"}), out_dir,
        )  # fmt: skip
        job: int = self.base.one("select id from qwf.jobs where run_id = %s", run)
        self.secrets[job] = f"{name}/run"
        return job

    def works(self, name: str) -> list[int]:
        """Enqueue, wait for the end, and see that each got its own."""
        jobs = self.enqueue(name)
        self.check(jobs)
        return jobs

    def check(self, jobs: list[int]) -> None:
        for job in jobs:
            row = self.base.ended(job)
            assert row["status"] == "completed", row["last_error"]
            assert row["output"] == {"secret": self.secrets[job]}
            assert self.served(job) == self.secrets[job].encode()
        assert self.base.invariants() == []

    def served(self, job: int) -> bytes:
        """Bytes that the page sends of the file that a job has listed."""
        rows = self.base.conn.execute(
            listed_file.FILE, {"job": job, "number": 1}  # type: ignore[arg-type]
        ).fetchall()  # fmt: skip
        [row] = rows
        assert row["rel_path"].endswith("result")
        roots = [files.Root(Path("/"))]

        async def send() -> bytes:
            answer = await send_file.serve(roots, row, download=True)
            assert isinstance(answer, StreamingResponse)
            return b"".join([bytes(part) async for part in answer.body_iterator])  # type: ignore[arg-type]

        return anyio.run(send)

    def moved(self) -> int:
        count: int = self.base.one(
            "select count(*) from _qwf.event_log where kind = 'folder_moved'"
        )
        return count


def block(holding: str) -> str:
    """The only block of shell of docs/operations.md with this text."""
    found = re.findall(r"^ *```sh\n(.*?)^ *```$", TEXT, re.MULTILINE | re.DOTALL)
    (one,) = [text for text in found if holding in text]
    return str(one)


def qwf_says(command: str, dsn: str, code: int = 0) -> str:
    done = CliRunner().invoke(qwf, command.split()[1:], env={"QWF_DSN": dsn})
    assert done.exit_code == code, done.output
    return done.output


def contents(folder: Path) -> dict[str, str]:
    """The text of every file below a folder that a body has written."""
    return {str(file): file.read_text() for file in folder.rglob("result")}


@pytest.fixture
def shop(dsn: str) -> Iterator[Shop]:
    made = Shop(dsn)
    with made.base.conn:
        yield made


@pytest.fixture
def start(dsn: str, tmp_path: Path) -> Iterator[StartAgent]:
    with agents(dsn, tmp_path) as started:
        yield started


@pytest.fixture
def dump(shop: Shop, tmp_path: Path) -> Any:
    """Writes the backup of the runbook, and returns its file."""

    def write() -> Path:
        file = tmp_path / "qwf.dump"
        words = block("-f qwf.dump").partition("-f")[0].split()[1:]
        program = embedded.binaries() / "pg_dump"
        subprocess.run([program, *words, "-f", file, shop.dsn], check=True, timeout=120)
        return file

    return write


@pytest.fixture
def restored(server: Server, dump: Any) -> Iterator[Any]:
    """Restores a backup into an empty database; the agents of the one before are gone."""
    with _Databases(server) as databases:

        def restore(file: Path) -> Shop:
            other = databases.empty()
            program = embedded.binaries() / "pg_restore"
            subprocess.run(
                [program, "--exit-on-error", "-d", other.dsn, file], check=True, timeout=120
            )
            other.base.conn.execute("update qwf.workers set last_seen = now() - interval '1 h'")
            return other

        yield restore


class _Databases:
    """Databases that are dropped at the end."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._made: list[Any] = []

    def __enter__(self) -> _Databases:
        return self

    def empty(self) -> Shop:
        database = self._server.database(self._server.new_name())
        shop = Shop(self._server.dsn(database.__enter__().dbname))
        self._made += [database, shop.base.conn]
        return shop

    def __exit__(self, *_: object) -> None:
        for one in reversed(self._made):
            one.__exit__(None, None, None)


@pytest.fixture
def second(server: Server) -> Iterator[Shop]:
    """Another database, deployed on its own."""
    with _Databases(server) as databases:
        shop = databases.empty()
        migrate.deploy(shop.dsn)
        yield shop


def test_two_databases_of_one_box_share_no_folder(
    shop: Shop, second: Shop, start: StartAgent, tmp_path: Path
) -> None:
    start(*TASKS)
    start(*TASKS, QWF_DSN=second.dsn)
    first, other = shop.enqueue("first"), second.enqueue("second")
    assert set(first) & set(other), "the ids are the same"
    shop.check(first)
    second.check(other)
    assert {folder.name for folder in (tmp_path / "qwf" / "out").iterdir()} == {
        one.base.one("select left(id::text, 8) from qwf.instance") for one in (shop, second)
    }
    assert shop.moved() == second.moved() == 0


def test_an_out_root_belongs_to_one_database(
    shop: Shop, second: Shop, start: StartAgent, tmp_path: Path
) -> None:
    out = tmp_path / "data" / "out"
    start(*TASKS, "--out-root", str(out))
    shop.works("first")
    refused = start(*TASKS, "--out-root", str(out), ready=False, QWF_DSN=second.dsn)
    assert refused.ended() == 78
    owner = shop.base.one("select left(id::text, 8) from qwf.instance")
    assert f"--out-root {out} belongs to database {owner}; use {out}/{{instance}}" in refused.said()
    start(*TASKS, "--out-root", f"{out}/{{instance}}", QWF_DSN=second.dsn)
    second.works("second")
    start(*TASKS, QWF_OUT_ROOT=f"{out}/{{instance}}", QWF_DSN=second.dsn)
    start(*TASKS, "--out-root", str(out))


def test_a_restore_with_the_step(
    shop: Shop, start: StartAgent, dump: Any, restored: Any, tmp_path: Path
) -> None:
    agent = start(*TASKS)
    before = shop.works("before")
    backup = dump()
    lost = shop.works("lost")
    agent.stop()
    now = restored(backup)
    now.secrets = dict(shop.secrets)
    told = qwf_says(block("qwf migrate restored\n").strip(), now.dsn)
    assert "generation 2" in told
    assert "0 problems" in qwf_says("qwf doctor --only folders", now.dsn).replace("no ", "0 ")
    start(*TASKS, QWF_DSN=now.dsn)
    new = now.works("new")
    assert min(new) > max(lost) + 1_000_000 - 10
    assert now.moved() == 0
    for job in before:
        assert now.served(job) == now.secrets[job].encode()
    kept = contents(tmp_path / "qwf" / "out").values()
    assert sorted(kept) == sorted([*shop.secrets.values(), *(now.secrets[job] for job in new)])


def test_a_restore_without_the_step(
    shop: Shop, start: StartAgent, dump: Any, restored: Any, tmp_path: Path
) -> None:
    agent = start(*TASKS)
    shop.works("before")
    backup = dump()
    lost = shop.works("lost")
    agent.stop()
    now = restored(backup)
    said = qwf_says("qwf doctor --only folders", now.dsn, code=1)
    assert "restored from a backup" in " ".join(said.split())  # a long path wraps the line
    assert "qwf migrate restored" in said
    forgetful = start(*TASKS, QWF_DSN=now.dsn)
    new = now.works("new")
    assert new == lost, "the ids are given out again"
    assert now.moved() == len(new)
    assert ".before-" in forgetful.said()
    assert "lost" not in "".join(now.secrets.values())
    log = now.base.one("select log_tail from qwf.job_attempts where job_id = %s", new[0])
    assert "warning: " in log
    kept = contents(tmp_path / "qwf" / "out").values()
    assert sorted(kept) == sorted([*shop.secrets.values(), *now.secrets.values()])


@pytest.mark.parametrize(
    "step",
    [pytest.param(True, marks=thorough, id="with the step"), pytest.param(False, id="without")],
)
def test_a_job_that_ran_after_the_backup_begins_again(
    shop: Shop, start: StartAgent, dump: Any, restored: Any, step: bool
) -> None:
    """Its files come from a life that did not happen: other nodes may return something else."""
    waiting = shop.enqueue("waiting")
    backup = dump()
    agent = start(*TASKS)
    shop.check(waiting)
    agent.stop()
    now = restored(backup)
    if step:
        qwf_says("qwf migrate restored", now.dsn)
    now.base.conn.execute(
        'update qwf.jobs set inputs = \'{"secret": "other"}\' where run_id is null'
    )
    now.secrets = dict.fromkeys(waiting[:3], "other") | {waiting[3]: "waiting/run"}
    start(*TASKS, QWF_DSN=now.dsn)
    now.check(waiting)
    assert now.moved() == len(waiting)


def test_a_copy_beside_the_running_original(
    shop: Shop, start: StartAgent, dump: Any, restored: Any, tmp_path: Path
) -> None:
    shared = str(tmp_path / "shared")
    shop.base.conn.execute("select qwf.pause_queue('default')")
    waiting = [*shop.enqueue("waiting"), shop.enqueue_run("waiting", shared)]
    copy = restored(dump())
    shop.base.conn.execute("select qwf.resume_queue('default')")
    command = block("--copy").replace('"$copy"', copy.dsn.replace(" ", "\0"))
    words = [word.replace("\0", " ") for word in command.split()]
    done = CliRunner().invoke(qwf, words[1:])
    assert done.exit_code == 0, done.output
    start(*TASKS)
    start(*TASKS, QWF_DSN=copy.dsn)
    shop.check(waiting)
    assert {copy.base.job(job)["attempt"] for job in waiting} == {0}, "nothing runs twice"
    copy.secrets = {job: f"copy {secret}" for job, secret in shop.secrets.items()}
    for job in waiting[:3]:
        copy.base.conn.execute(
            "update qwf.jobs set inputs = jsonb_build_object('secret', %s::text) where id = %s",
            (copy.secrets[job], job),
        )
    copy.secrets[waiting[3]] = shop.secrets[waiting[3]]
    qwf_says("qwf queue resume default", copy.dsn)
    copy.check(waiting[:4])
    failed = copy.base.ended(waiting[4])
    assert failed["status"] == "failed"
    assert "another out_dir" in failed["last_error"]
    shop.check(waiting)
    assert shop.moved() == copy.moved() == 0


def test_an_agent_that_stays_connected_learns_of_the_new_generation(
    shop: Shop, start: StartAgent
) -> None:
    agent = start(*TASKS)
    shop.works("before")
    live = CliRunner().invoke(qwf, ["migrate", "restored", "--dsn", shop.dsn])
    assert live.exit_code == 2
    assert "Workers are live" in live.output
    assert "Add --yes: there is no terminal to ask on" in live.output
    assert shop.base.one("select generation from qwf.instance") == 1
    qwf_says("qwf migrate restored --yes", shop.dsn)
    until(lambda: "generation 2" in agent.said(), "the agent")
    shop.works("after")
    shop.base.conn.execute("select qwf.begin_generation(copy => true, despite_live => true)")
    until(lambda: "start this agent again" in agent.said(), "the agent")
    shop.base.conn.execute("select qwf.resume_queue('default')")
    start(*TASKS)
    shop.works("as another database")
