"""An agent starts only with a valid configuration, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.rows import dict_row

from qwf_agent import migrate
from qwf_agent.system.versions import compatible_part
from support.harness import PACKAGE, Database, StartAgent, alive, run_agent, until

NOWHERE = "host=127.0.0.1 port=1 dbname=x connect_timeout=1"


def test_sigterm_lets_the_body_finish(base: Database, start: StartAgent, tmp_path: Path) -> None:
    agent = start("--app", "bodies")
    file = tmp_path / "pid"
    job_id = base.enqueue("telling", {"file": str(file), "seconds": 0.5})
    until(file.exists, "the body")
    agent.signal(signal.SIGTERM)
    later = base.enqueue("noop")
    assert agent.ended() == 0
    assert base.job(job_id)["status"] == "completed"
    assert base.job(later)["status"] == "queued"
    assert base.one("select count(*) from qwf.workers where stopped_at is null") == 0
    assert base.one("select count(*) from qwf.sleepers") == 0


def test_jobs_that_have_not_started_go_back_at_once(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    agent = start("--app", "bodies")
    for _ in range(3):  # so that it takes several jobs at a time
        ids = [base.enqueue("noop") for _ in range(50)]
        base.ended(ids[-1])
    blocked = [base.enqueue("telling", {"file": str(tmp_path / "pid"), "seconds": 600})]
    blocked += [base.enqueue("noop") for _ in range(20)]
    until((tmp_path / "pid").exists, "the long body")
    agent.signal(signal.SIGTERM)
    until(lambda: {base.job(j)["status"] for j in blocked[1:]} == {"queued"}, "the release")
    agent.signal(signal.SIGTERM)
    assert agent.ended() == 0
    states = {(base.job(j)["status"], base.job(j)["losses"]) for j in blocked}
    assert states == {("queued", 0)}
    assert base.invariants() == []


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_kills_at_once_and_counts_nothing(
    base: Database, start: StartAgent, tmp_path: Path, second: signal.Signals
) -> None:
    agent = start("--app", "bodies")
    job_id = base.enqueue("stubborn", {"file": str(tmp_path / "pid")})
    pid = int(until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text()))
    agent.signal(signal.SIGTERM)
    told = "stopping: 1 running body has 60 s to end; a second Ctrl-C or SIGTERM stops at once"
    until(lambda: told in agent.said())
    agent.signal(second)
    assert agent.ended() == 0
    assert not alive(pid)
    job = base.job(job_id)
    assert (job["status"], job["losses"], job["failures"]) == ("queued", 0, 0)
    assert base.attempts(job_id)[0]["outcome"] == "released"


def test_the_end_of_the_grace_kills(base: Database, start: StartAgent, tmp_path: Path) -> None:
    agent = start("--app", "bodies", "--grace", "0.2")
    job_id = base.enqueue("stubborn", {"file": str(tmp_path / "pid")})
    until((tmp_path / "pid").exists)
    assert agent.stop() == 0
    assert base.job(job_id)["status"] == "queued"
    assert base.attempts(job_id)[0]["outcome"] == "released"


def test_sighup_replaces_the_children_and_loses_nothing(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    agent = start("--app", "bodies")
    file = tmp_path / "pid"
    job_id = base.enqueue("telling", {"file": str(file), "seconds": 0.3})
    until(file.exists)
    agent.signal(signal.SIGHUP)
    assert base.ended(job_id)["status"] == "completed"

    def is_replaced() -> bool:
        return base.ended(base.enqueue("whoami"))["output"]["pid"] != int(file.read_text())

    until(is_replaced, "another child")


def test_code_that_cannot_be_imported_replaces_no_child(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    code = "import os\nfrom qwf_agent import App\napp = App()\n"
    code += "@app.task()\ndef t():\n    return {{'version': {}, 'pid': os.getpid()}}\n"
    file = tmp_path / "mine.py"
    file.write_text(code.format(1))
    agent = start("--app", "mine", PYTHONPATH=f"{PACKAGE}{os.pathsep}{tmp_path}")
    before = base.ended(base.enqueue("t"))["output"]
    assert before["version"] == 1
    file.write_text("raise RuntimeError('half an upload')\n")
    agent.signal(signal.SIGHUP)
    until(lambda: "RuntimeError: half an upload" in agent.said())
    assert "keeping the children with the old code" in agent.said()
    problem = "select stats ->> 'code_problem' from qwf.workers"
    until(lambda: base.one(problem) == "RuntimeError: half an upload", "its heartbeat")
    assert base.ended(base.enqueue("t"))["output"] == before
    with psycopg.connect(base.dsn, row_factory=dict_row) as conn:
        found = conn.execute("select * from qwf.doctor('{workers}')").fetchall()
    assert [(one["level"], "keeps running old code" in one["says"]) for one in found] == [
        ("problem", True)
    ]
    file.write_text(code.format(22))
    until(lambda: base.ended(base.enqueue("t"))["output"]["version"] == 22, "the new code")
    until(lambda: base.one(problem) is None, "its heartbeat")


def test_children_are_replaced_after_recycle_jobs(base: Database, start: StartAgent) -> None:
    start("--app", "bodies", "--recycle-jobs", "2")
    ids = [base.enqueue("whoami") for _ in range(6)]
    pids = [base.ended(job_id)["output"]["pid"] for job_id in ids]
    assert len(set(pids)) == 3


def test_fresh_forks_a_child_for_every_job(base: Database, start: StartAgent) -> None:
    start("--app", "bodies", "--fresh")
    ids = [base.enqueue("whoami") for _ in range(4)]
    assert len({base.ended(job_id)["output"]["pid"] for job_id in ids}) == 4


def test_without_a_database_it_says_what_to_do(tmp_path: Path) -> None:
    code, said = run_agent(tmp_path, "--app", "bodies")
    assert code == 78
    assert "QWF_DSN" in said
    assert "qwf up" in said


def test_without_anything_to_run_it_says_what_to_do(tmp_path: Path) -> None:
    code, said = run_agent(tmp_path, QWF_DSN=NOWHERE)
    assert code == 78
    assert "--app" in said


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--app", "broken", "this module is broken on purpose"),
        ("--app", "missing_module:app", "there is no module 'missing_module' in "),
        ("--app", "bodies/x.py", "PYTHONPATH; write 'bodies.x'"),
        ("--app", ":app", "'' is no name of a module"),
        ("--app", "bodies:nothing", "has no App called 'nothing'"),
        ("--nodes", "bodies", "expected a package"),
        ("--nodes", "no_such_package", "there is no module 'no_such_package' in "),
        ("--allow-commands", "/no/such/folder", "no such folder"),
        ("--slots", "0", "slots"),
    ],
)
def test_bad_configuration_is_78_and_says_why(
    tmp_path: Path, option: str, value: str, says: str
) -> None:
    code, said = run_agent(tmp_path, option, value, QWF_DSN=NOWHERE)
    assert code == 78
    assert says in said
    assert ("Traceback" in said) == (value == "broken"), "the error is in the code of the user"


def test_a_database_that_is_not_there_is_69(tmp_path: Path) -> None:
    code, said = run_agent(tmp_path, "--app", "bodies", "--wait", "0.5", QWF_DSN=NOWHERE)
    assert code == 69
    assert "no database" in said


def test_a_server_that_takes_no_writes_is_waited_for(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """As during a failover; its address may lead to a standby for a while."""
    name = base.one("select current_database()")
    only_reads = sql.SQL("alter database {} {} default_transaction_read_only")
    base.conn.execute("set default_transaction_read_only = off")
    base.conn.execute(only_reads.format(sql.Identifier(name), sql.SQL("set")) + sql.SQL(" = on"))
    code, said = run_agent(tmp_path, "--app", "bodies", "--wait", "0.5", QWF_DSN=base.dsn)
    assert code == 69
    assert "default_transaction_read_only is on" in said
    start("--app", "bodies", log=tmp_path / "log")
    until(lambda: "takes no writes" in (tmp_path / "log").read_text(), "the first try")
    base.conn.execute(only_reads.format(sql.Identifier(name), sql.SQL("reset")))
    base.ended(base.enqueue("noop"))


def test_agents_work_read_committed_whatever_the_database_says(
    base: Database, start: StartAgent
) -> None:
    """In the others, agents that meet would have to begin again and again."""
    name = base.one("select current_database()")
    strict = "alter database {} set default_transaction_isolation = 'serializable'"
    base.conn.execute(sql.SQL(strict).format(sql.Identifier(name)))
    base.conn.execute("create table public.seen (isolation text)")
    base.conn.execute(
        "create function public.see() returns trigger language plpgsql security definer as $$ begin"
        " insert into public.seen values (current_setting('transaction_isolation')); return null;"
        " end $$"
    )
    base.conn.execute(
        "create trigger see after insert or update on qwf.jobs execute function public.see()"
    )
    start("--app", "bodies")
    job = base.enqueue("noop")
    base.conn.execute("truncate public.seen")
    base.ended(job)
    assert base.one("select array_agg(distinct isolation) from public.seen") == ["read committed"]


def test_a_database_without_the_schema_is_78(tmp_path: Path, empty_dsn: str) -> None:
    code, said = run_agent(tmp_path, "--app", "bodies", "--wait", "0.5", QWF_DSN=empty_dsn)
    assert code == 78
    assert "qwf migrate deploy" in said


def test_a_schema_of_another_version_is_78(base: Database, tmp_path: Path) -> None:
    with psycopg.connect(base.dsn, autocommit=True) as conn:
        conn.execute(
            "create or replace function qwf.version() returns text language sql immutable"
            " as $$ select '0.0.9' $$"
        )
    code, said = run_agent(tmp_path, "--app", "bodies", QWF_DSN=base.dsn)
    assert code == 78
    assert "schema version 0.0.9, this agent needs 0." in said


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("0.1.0", "0.1.7", True),
        ("0.1.0", "0.2.0", False),
        ("1.0.0", "1.9.0", True),
        ("1.0.0", "2.0.0", False),
    ],
)
def test_which_versions_are_compatible(one: str, other: str, alike: bool) -> None:
    assert (compatible_part(one) == compatible_part(other)) is alike


def test_an_unknown_queue_is_78(base: Database, tmp_path: Path) -> None:
    code, said = run_agent(tmp_path, "--app", "bodies", "--queue", "nonesuch", QWF_DSN=base.dsn)
    assert code == 78
    assert "nonesuch" in said


def test_it_waits_for_the_schema(empty_dsn: str, start: StartAgent, tmp_path: Path) -> None:
    agent = start("--app", "bodies", "--dsn", empty_dsn, ready=False)
    with psycopg.connect(empty_dsn) as conn:
        info = conn.info
        migrate.deploy(host=info.host, port=info.port, user=info.user, dbname=info.dbname)
    until(lambda: "serving" in agent.said(), "the agent")


def test_an_agent_stopped_while_it_waits_exits_with_0(start: StartAgent) -> None:
    agent = start("--app", "bodies", "--dsn", NOWHERE, "-v", ready=False)
    until(lambda: "waiting" in agent.said(), "the agent")
    assert agent.stop() == 0


def test_options_come_from_the_environment_and_from_the_file(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    (tmp_path / "qwf.toml").write_text('[agent]\nslots = 3\nhost = "from-file"\nqueue = ["cpu"]\n')
    start(QWF_APP="bodies", QWF_HOST="from-environment")
    (row,) = base.conn.execute("select host, queue, slots, tasks, pid from qwf.workers").fetchall()
    assert (row["host"], row["slots"], row["queue"]) == ("from-environment", 3, "cpu")
    assert "greet" in row["tasks"]
    assert row["pid"] != os.getpid()
