"""A report that the database refuses, here because of a trigger of somebody else, holds back no
other one; nothing that has ended runs again."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.harness import PACKAGE, Database, StartAgent, clean_environment, until

CODE = """
import time
from qwf_agent import App

app = App()

@app.task()
def bad(n: int) -> dict:
    with open("ran", "a") as file:
        print(n, file=file)
    return {"n": n}

@app.task()
def good() -> None: ...

@app.task()
def slow() -> None:
    time.sleep(0.2)
"""
UNREPORTED = "select sum((stats -> 'unreported' -> 'reports')::int)::int from qwf.workers"
WHERE = "PL/pgSQL function public.refuse() line 1 at RAISE"
HOPS = """
select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a", "node": "good"},
    {"id": "b", "node": "bad", "inputs": {"n": 7}, "depends_on": ["a"]}]}');
select qwf.register_workflow('{"name": "w", "steps": [
    {"id": "s", "kind": "pipeline", "pipeline": "p"}]}')
"""


@pytest.fixture
def code(tmp_path: Path) -> str:
    (tmp_path / "mine.py").write_text(CODE)
    return f"{PACKAGE}:{tmp_path}"


def refuse(base: Database, how: str = "raise exception 'no room'", what: str = "completed") -> None:
    """Refuse the end of the jobs of the task `bad`."""
    base.conn.execute(
        f"create function public.refuse() returns trigger language plpgsql as"  # type: ignore[arg-type]
        f" $$ begin {how}; return new; end $$;"
        f" create trigger refuse before update on qwf.jobs for each row when (new.task = 'bad'"
        f" and old.status = 'running' and new.status = '{what}') execute function public.refuse()"
    )


def relent(base: Database) -> None:
    base.conn.execute("drop trigger refuse on qwf.jobs; drop function public.refuse()")


def all_ended(base: Database, ids: list[int]) -> None:
    for job_id in ids:
        assert base.ended(job_id)["attempt"] == 1
    assert base.one("select sum(losses) from qwf.jobs") == 0
    assert base.one("select bool_and(status = 'completed') from qwf.jobs") is True
    assert base.invariants() == []


def ran(home: Path) -> list[int]:
    return sorted(map(int, (home / "ran").read_text().split()))


@pytest.mark.parametrize(
    ("how", "state"),
    [
        ("raise exception 'no room'", "P0001 no room"),
        ("perform from gone", '42P01 relation "gone" does not exist'),
        ("perform 1 / 0", "22012 division by zero"),
        ("raise check_violation", "23514 check_violation"),
    ],
)
def test_the_others_go_on_and_nothing_runs_again(
    base: Database, start: StartAgent, code: str, tmp_path: Path, how: str, state: str
) -> None:
    base.conn.execute("update qwf.settings set lease = '3 s', heartbeat = '1 s'")
    refuse(base, how)
    agent = start("--app", "mine", "--host", "box-a", "--slots", "2", PYTHONPATH=code)
    bad = [base.enqueue("bad", {"n": n}) for n in range(5)]
    good = [base.enqueue("good") for _ in range(30)]
    more = [base.enqueue("bad", {"n": n}) for n in range(5, 8)]
    for job_id in good:
        base.ended(job_id)
    until(lambda: base.one(UNREPORTED) == 8, "the heartbeat")
    assert base.ended(base.enqueue("good"))["status"] == "completed"
    said = base.one("select says from qwf.doctor('{workers}') where level = 'problem'")
    where = WHERE.replace("RAISE", "PERFORM") if how.startswith("perform") else WHERE
    assert said == (f"box-a has 8 ended bodies that it cannot report: 8 of bad: {state} ({where})")
    assert base.one("select why_not from qwf.why_not(%s)", bad[0]) == (
        f"its body has ended on box-a, which cannot report it: {state} ({where})"
    )
    assert base.one("select value from qwf.metrics where name = 'qwf_unreported_bodies'") == 8
    named = f"job {bad[0]} (bad) has ended, but the database refuses the report, which is tried "
    assert f"{named}again: {state} ({where})" in agent.said()
    assert re.search(rf"; CONTEXT: .*{re.escape(where)} SQL statement", agent.said())
    first = base.job(bad[0])["lease_expires_at"]
    until(lambda: base.job(bad[0])["lease_expires_at"] > first, "its lease to be renewed")
    relent(base)
    all_ended(base, bad + more + good)
    until(lambda: base.one(UNREPORTED) is None, "the heartbeat")
    assert ran(tmp_path) == list(range(8))
    assert base.job(bad[3])["output"] == {"n": 3}


def test_an_agent_whose_reports_wait_claims_no_more_than_its_slots(
    base: Database, start: StartAgent, code: str
) -> None:
    refuse(base)
    start("--app", "mine", "--slots", "2", PYTHONPATH=code)
    base.enqueue("bad", {"n": 1})
    until(lambda: base.one(UNREPORTED) == 1, "the heartbeat")
    ids = [base.enqueue("slow") for _ in range(12)]
    held = "select count(*) from qwf.jobs where status = 'running' and task = 'slow'"
    most = 0
    while base.one("select count(*) from qwf.jobs where finished_at is null") > 1:
        most = max(most, base.one(held))
    assert 1 <= most <= 2
    assert {base.job(job_id)["status"] for job_id in ids} == {"completed"}


def test_a_report_that_goes_with_a_claim(
    base: Database, start: StartAgent, code: str, tmp_path: Path
) -> None:
    """The end of a node: runs beside it go on, and it ends when it can."""
    base.conn.execute(HOPS)
    refuse(base)
    start("--app", "mine", "--slots", "1", "--queue", "cpu", PYTHONPATH=code)
    runs = [base.one("select qwf.enqueue_run('w')") for _ in range(3)]
    until(lambda: base.one(UNREPORTED) == 3, "the heartbeat")
    assert base.one("select count(*) from qwf.jobs where status = 'completed'") == 3
    relent(base)
    for run in runs:
        until(lambda: base.one("select status from qwf.runs where id = %s", run) == "completed")  # noqa: B023
    assert base.one("select max(attempt) from qwf.jobs") == 1
    assert ran(tmp_path) == [7, 7, 7]


def test_an_agent_that_stops_says_what_runs_again(
    base: Database, start: StartAgent, code: str, tmp_path: Path
) -> None:
    refuse(base)
    agent = start("--app", "mine", "--host", "box-a", PYTHONPATH=code)
    job_id = base.enqueue("bad", {"n": 1})
    until(lambda: base.one(UNREPORTED) == 1, "the heartbeat")
    assert agent.stop() == 0
    assert (
        f"job {job_id} (bad) has ended, but the database refuses the report: it runs again. "
        f"P0001 no room ({WHERE})"
    ) in agent.said()
    job: Any = base.job(job_id)
    assert (job["status"], job["losses"], job["failures"]) == ("queued", 0, 0)
    relent(base)
    start("--app", "mine", PYTHONPATH=code)
    assert base.ended(job_id)["attempt"] == 2
    assert ran(tmp_path) == [1, 1]


def test_the_last_try_of_an_agent_that_stops_may_be_taken(
    base: Database, start: StartAgent, code: str, tmp_path: Path
) -> None:
    refuse(base)
    agent = start("--app", "mine", PYTHONPATH=code)
    ids = [base.enqueue("bad", {"n": n}) for n in range(3)]
    until(lambda: base.one(UNREPORTED) == 3, "the heartbeat")
    relent(base)
    assert agent.stop() == 0
    all_ended(base, ids)
    assert ran(tmp_path) == [0, 1, 2]


def test_doctor_says_so(base: Database, start: StartAgent, code: str, tmp_path: Path) -> None:
    refuse(base)
    start("--app", "mine", "--host", "box-a", PYTHONPATH=code)
    base.enqueue("bad", {"n": 1})
    until(lambda: base.one(UNREPORTED) == 1, "the heartbeat")
    done = subprocess.run(
        [Path(sys.executable).with_name("qwf"), "doctor"], capture_output=True, text=True,
        check=False, env={**clean_environment(tmp_path), "QWF_DSN": base.dsn},
    )  # fmt: skip
    assert done.returncode == 1
    assert "box-a has 1 ended body that it cannot report" in done.stdout
