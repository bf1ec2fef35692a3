"""The next node of a run: reported and claimed in one call, and what happens if that fails."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import psycopg
import pytest

from qwf_agent.agent import db
from qwf_agent.agent.calls import Failure, SentCall
from qwf_agent.agent.claim import CHILD_COLUMNS, Claim
from qwf_agent.agent.failure_log import FailureLog
from qwf_agent.agent.reporter import RETRY_S, Reporter
from qwf_agent.agent.worker import Worker
from qwf_agent.child.outcome import JobOutcome, render
from support.harness import Database, StartAgent, until

WANTED = db.Wanted("cpu", "w", 5, None)
COLUMNS = ["job_id", "verdict", "pending", "token"]


class OneCall:
    """A link that keeps the calls; the test answers them."""

    def __init__(self) -> None:
        self.up = True
        self.calls: list[SentCall] = []

    @property
    def idle(self) -> bool:
        return all(call.done for call in self.calls)

    def send(self, query: db.Query) -> SentCall:
        self.calls.append(SentCall(query))
        return self.calls[-1]

    def answer(self, *records: tuple[Any, ...], failure: Failure | None = None) -> None:
        call = self.calls[-1]
        call.columns, call.records = COLUMNS, list(records)
        call.failure, call.done = failure, True


@pytest.fixture
def link() -> OneCall:
    return OneCall()


@pytest.fixture
def reporter(link: OneCall) -> Reporter:
    return Reporter(cast("Any", link), cast("FailureLog", SimpleNamespace(add=print)))


def add(reporter: Reporter, job: int, run: int | None = 1, queue: str = "cpu") -> Claim:
    fields = dict.fromkeys(CHILD_COLUMNS) | {"job_id": job, "run_id": run}
    claim = Claim(
        job, f"t{job}", "t", queue, 1, None, cast("Any", tuple(fields.values())), 1, 1, False,
        cast("Worker", None),
    )  # fmt: skip
    reporter.add(claim, render(JobOutcome("completed")))
    return claim


def sent(link: OneCall) -> str:
    """The function that the last call called."""
    return link.calls[-1].query.text.split("qwf.")[1].split("(")[0]


def test_a_claim_goes_with_reports_about_nodes_of_its_queue(
    link: OneCall, reporter: Reporter
) -> None:
    assert not reporter.takes_claim("cpu", 0.0), "there is nothing to report"
    add(reporter, 1, run=None)
    assert not reporter.takes_claim("cpu", 0.0), "the end of a standalone job opens nothing"
    add(reporter, 2)
    assert reporter.takes_claim("cpu", 0.0)
    assert not reporter.takes_claim("gpu", 0.0)
    claiming = reporter.send_with_claim(WANTED)
    assert sent(link) == "finish_and_claim"
    assert not reporter.takes_claim("cpu", 0.0), "one call at a time"
    assert [claim.job_id for claim in reporter.claims()] == [1, 2], "their leases are renewed"
    link.answer((1, "ok", False, None), (2, "lost", False, None), (3, None, None, "t3"))
    assert not claiming.done
    reporter.take_answer(0.0)
    assert claiming.done
    assert list(claiming.pick("job_id", "token")) == [(3, "t3")]
    assert reporter.idle()


def test_the_outbox_is_drained_if_the_verdicts_say_so(link: OneCall, reporter: Reporter) -> None:
    add(reporter, 1)
    reporter.send_with_claim(WANTED)
    link.answer((1, "ok", True, None))
    reporter.take_answer(0.0)
    reporter.step(0.0)
    assert sent(link) == "drain_outbox"


@pytest.mark.parametrize("code", ["QW006", "57014", "22P05"])
def test_after_a_refusal_the_reports_go_without_a_claim(
    link: OneCall, reporter: Reporter, code: str
) -> None:
    add(reporter, 1)
    add(reporter, 2)
    claiming = reporter.send_with_claim(WANTED)
    link.answer(failure=Failure("no", code))
    reporter.take_answer(0.0)
    assert claiming.failure is not None
    add(reporter, 3)
    assert not reporter.takes_claim("cpu", 0.0)
    reporter.step(0.0)
    assert sent(link) == "finish_many", "at once"
    assert len(json.loads(cast("bytes", link.calls[-1].query.params[0]))) == 3
    link.answer((1, "ok", False, None), (2, "ok", False, None), (3, "ok", False, None))
    reporter.take_answer(0.0)
    assert reporter.idle()
    add(reporter, 4)
    assert reporter.takes_claim("cpu", 0.0), "the next ones go with a claim again"


def test_after_a_lost_connection_the_reports_are_sent_again(
    link: OneCall, reporter: Reporter
) -> None:
    add(reporter, 1)
    claiming = reporter.send_with_claim(WANTED)
    link.answer(failure=Failure("gone", lost=True))
    reporter.take_answer(0.0)
    assert claiming.done
    assert claiming.failure is not None
    assert claiming.failure.lost
    assert [claim.job_id for claim in reporter.claims()] == [1]
    reporter.step(RETRY_S)
    assert sent(link) == "finish_many"


# Real agents --------------------------------------------------------------------------------------


def register_chain(base: Database, length: int, task: str = "noop", **inputs: Any) -> None:
    nodes = [
        {"id": f"n{i}", "node": task, "queue": "default", "inputs": inputs,
         "depends_on": [f"n{i - 1}"] if i else []}
        for i in range(length)
    ]  # fmt: skip
    steps = [{"id": "s", "kind": "pipeline", "pipeline": "chain"}]
    pipeline, workflow = {"name": "chain", "nodes": nodes}, {"name": "chain", "steps": steps}
    base.one("select qwf.register_pipeline(%s)", json.dumps(pipeline))
    base.one("select qwf.register_workflow(%s)", json.dumps(workflow))


def runs_over(base: Database) -> bool:
    return bool(base.one("select bool_and(finished_at is not null) from qwf.runs"))


def test_a_hop_is_one_commit(base: Database, start: StartAgent) -> None:
    """On a busy machine an agent may claim before an answer has come, so one of three chains
    counts."""
    length = 100
    register_chain(base, length)
    database = base.one("select current_database()")
    base.conn.execute(f"alter database {database} set track_functions = 'pl'")
    seen = []
    for _ in range(3):
        hops, commits, took_s = run_chain(base, start)
        chores = 20 * took_s  # what agents, and Postgres itself, commit meanwhile
        seen.append((hops, commits, chores))
        if hops >= 0.9 * length and commits <= 1.5 * length + chores:
            break
    else:
        pytest.fail(f"calls of finish_and_claim, commits, chores: {seen}")
    statuses = base.conn.execute("select distinct status::text from qwf.jobs").fetchall()
    assert [row["status"] for row in statuses] == ["completed"]


def run_chain(base: Database, start: StartAgent) -> tuple[int, int, float]:
    """How often an agent called finish_and_claim for a chain, how many commits there were, and how
    many seconds the chain took."""
    commits = "select xact_commit from pg_stat_database where datname = current_database()"
    hops = "select coalesce(sum(calls), 0)::int from pg_stat_user_functions"
    hops += " where schemaname = 'qwf' and funcname = 'finish_and_claim'"
    agent = start("--app", "bodies")
    until(lambda: base.one("select count(*) from qwf.sleepers") == 1)
    base.one("select pg_stat_force_next_flush()")
    commits_before, hops_before = base.one(commits), base.one(hops)
    run = base.one("select qwf.enqueue_run('chain')")
    base.conn.execute(
        "do $$ begin while exists (select from qwf.runs where finished_at is null) loop"
        " perform pg_sleep(0.01); end loop; end $$"
    )
    assert agent.stop() == 0  # its sessions count what they have done when they end
    base.one("select pg_stat_force_next_flush()")
    until(lambda: base.one("select count(*) from pg_stat_activity"
                           " where application_name ~ '^qwf agent'"
                           " and datname = current_database()") == 0)  # fmt: skip
    took_s = base.one(
        "select extract(epoch from finished_at - created_at)::float from qwf.runs where id = %s",
        run,
    )
    return base.one(hops) - hops_before, base.one(commits) - commits_before, took_s


def test_sessions_cut_in_the_middle_of_hops_lose_nothing(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    register_chain(base, 30)
    start("--app", "bodies", "--lease", "1")  # a claim whose answer is cut off lapses
    base.one("select count(qwf.enqueue_run('chain', priority => i)) from generate_series(1, 4) i")
    cut = (
        "select count(pg_terminate_backend(pid)) from pg_stat_activity"
        " where application_name ~ '^qwf agent' and datname = current_database()"
    )
    for ended in (20, 50, 80):
        until(lambda n=ended: base.one(
            "select count(*) from qwf.jobs where status = 'completed'") >= n)  # type: ignore[misc]  # fmt: skip
        base.one(cut)
    until(lambda: runs_over(base), "the runs")
    ended = "select count(*) from qwf.job_attempts where outcome = 'completed'"
    assert base.one(ended) == base.one("select count(*) from qwf.jobs") == 120
    assert base.invariants() == []


def test_a_restart_of_postgres_in_the_middle_of_hops_loses_nothing(
    server: Any, base: Database, start: StartAgent
) -> None:
    register_chain(base, 50)
    start("--app", "bodies", "--lease", "1")
    base.one("select count(qwf.enqueue_run('chain', priority => i)) from generate_series(1, 4) i")
    until(lambda: base.one("select count(*) from qwf.jobs where status = 'completed'") >= 30)
    server.stop_immediate()
    server.start()
    base.conn = psycopg.connect(base.dsn, autocommit=True, row_factory=psycopg.rows.dict_row)
    until(lambda: runs_over(base), "the runs")
    ended = "select count(*) from qwf.job_attempts where outcome = 'completed'"
    assert base.one(ended) == base.one("select count(*) from qwf.jobs") == 200
    assert base.invariants() == []


def test_another_agent_goes_on_with_the_runs_of_a_killed_one(
    base: Database, start: StartAgent
) -> None:
    register_chain(base, 50)
    first = start("--app", "bodies", "--lease", "1")
    base.one("select count(qwf.enqueue_run('chain', priority => i)) from generate_series(1, 4) i")
    until(lambda: base.one("select count(*) from qwf.jobs where status = 'completed'") >= 30)
    first.signal(signal.SIGKILL)
    first.ended()
    start("--app", "bodies", "--lease", "1")
    until(lambda: runs_over(base), "the runs")
    assert base.one("select count(*) from qwf.jobs where status = 'completed'") == 200
    assert base.invariants() == []


def test_jobs_that_come_during_a_chain_do_not_wait_for_its_end(
    base: Database, start: StartAgent
) -> None:
    register_chain(base, 200)
    start("--app", "bodies")
    until(lambda: base.one("select count(*) from qwf.sleepers") == 1)
    base.one("select qwf.enqueue_run('chain')")
    until(lambda: base.one("select count(*) from qwf.jobs where status = 'completed'") >= 10)
    job = base.ended(base.enqueue("noop"))
    query = "select finished_at is null or finished_at > %s from qwf.runs"
    assert base.one(query, job["finished_at"])


def test_runs_go_on_while_the_common_call_fails(base: Database, start: StartAgent) -> None:
    register_chain(base, 5)
    arguments = base.one(
        "select pg_get_function_identity_arguments('qwf.finish_and_claim'::regproc)"
    )
    base.conn.execute("drop function qwf.finish_and_claim")
    base.conn.execute(
        f"create function qwf.finish_and_claim({arguments}) returns setof qwf.verdict_or_job"
        " language plpgsql as 'begin raise query_canceled; end'"
    )
    agent = start("--app", "bodies")
    base.one("select qwf.enqueue_run('chain')")
    until(lambda: runs_over(base), "the run")
    assert base.one("select status::text from qwf.runs") == "completed"
    assert "reporting with a claim failed" in agent.said()


def test_an_output_that_the_database_refuses_fails_its_node_alone(
    base: Database, start: StartAgent
) -> None:
    register_chain(base, 2, "returning_a_number_postgres_refuses")
    agent = start("--app", "bodies")
    base.one("select qwf.enqueue_run('chain')")
    until(lambda: runs_over(base), "the run")
    error = base.one("select last_error from qwf.jobs where node_id = 's/n0'")
    assert error.startswith("the output cannot be stored: ")
    assert base.ended(base.enqueue("noop"))["status"] == "completed"
    assert "claiming from" not in agent.said()


def test_queues_without_jobs_cost_almost_nothing(base: Database, start: StartAgent) -> None:
    """Workers of one agent that share its only slot do not claim again whenever the other has."""
    start("--app", "bodies", "--queue", "cpu", "--queue", "default", "--slots", "1")
    until(lambda: base.one("select count(*) from qwf.workers") == 2)
    jobs = [base.enqueue("noop", queue=queue) for queue in ("cpu", "default", "cpu", "default")]
    for job in jobs:
        base.ended(job)
    commits = "select xact_commit from pg_stat_database where datname = current_database()"
    before = base.one(commits)
    time.sleep(4)
    assert base.one(commits) - before < 200
