"""Random operations, random kills, and an observer that never sees a violation."""

from __future__ import annotations

import contextlib
import json
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from support.interleave import WORKFLOWS, Race
from support.planted_bugs import put_in
from support.thorough import THOROUGH

TROUBLE_S = 8.0 if THOROUGH else 5.0
RECOVERY_S = 180.0  # within which everything must end afterwards
Connect = Callable[[], psycopg.Connection[Any]]

CLAIM = "select job_id, token::text from qwf.claim(%s, %s, %s, '1 s')"
FINISH_AND_CLAIM = (
    "select job_id, verdict, pending, token::text"
    " from qwf.finish_and_claim(%s, 'cpu', %s, 2, '1 s')"
)
LIVE_RUNS = "select id from qwf.runs where finished_at is null"
LIVE_JOBS = "select id from qwf.jobs where finished_at is null"
OUTCOMES = {
    "completed": 75,
    "released": 5,
    "lost": 5,
    "tempfail": 5,
    "error": 4,
    "fatal": 1,
    "cancelled": 1,
}
# What a claim says of its picks: a pick is handed out, fails, or waits for an older job of its key.
PICKS = """create table public.picks (
    xact xid8 default pg_current_xact_id(), job_id bigint, why text, primary key (xact, job_id))"""
SUPERSEDE = (
    "if v_rare then v_jobs :="
    " _qwf.supersede(v_jobs, v_now, claim.startable, v_special.rated); end if;"
)
PICKED = f"""insert into public.picks (job_id) select p.id from unnest(v_jobs) p;
  {SUPERSEDE}
  update public.picks k set why = 'waits' from qwf.jobs j
  where k.xact = pg_current_xact_id() and j.id = k.job_id and j.key_state <> 's'
    and not exists (select from unnest(v_jobs) p where p.id = k.job_id);"""
USE = "if v_special.limited then perform"
HANDED_OUT = f"""update public.picks k set why = j.status from qwf.jobs j
  where k.xact = pg_current_xact_id() and j.id = k.job_id and j.status <> 'queued';
  {USE}"""
REFUSED = ("40001", "QW002", "QW001", "57014")  # serialization, too late, statement timeout


class Storm:
    """State that the threads share: when trouble stops, and the verdicts so far."""

    def __init__(self, connect: Connect, seed: int) -> None:
        self.connect = connect
        self.seed = seed
        self.trouble = time.monotonic() + TROUBLE_S
        self.end = self.trouble + RECOVERY_S
        self.over = threading.Event()
        self.verdicts: list[tuple[str, str, str]] = []  # token, outcome, verdict
        self.faults: list[str] = []
        self.backends: dict[str, int] = {}
        self.zombies = threading.Lock()
        self.late: list[tuple[int, str]] = []  # claims of workers that fell asleep

    def troubled(self) -> bool:
        return time.monotonic() < self.trouble

    def loop(
        self, name: str, act: Callable[[psycopg.Connection[Any], random.Random, str], None]
    ) -> None:
        """Act until the test is over, with a new session whenever the old one was killed."""
        dice = random.Random(f"{self.seed} {name}")
        conn: psycopg.Connection[Any] | None = None
        while not self.over.is_set():
            try:
                if conn is None or conn.closed:
                    conn = self.connect()
                    conn.execute("set client_min_messages = error")
                    self.backends[name] = conn.info.backend_pid
                self._set_timeout(conn, dice, name)
                act(conn, dice, name)
            except psycopg.Error as error:
                if conn is not None and not conn.closed:
                    with contextlib.suppress(psycopg.Error):  # killed meanwhile
                        conn.rollback()
                    if error.sqlstate not in REFUSED:
                        self.faults.append(f"{name}: {error.sqlstate} {error}")
            except Exception as error:  # an error in a thread fails the test
                self.faults.append(f"{name}: {error!r}")
                return

    def _set_timeout(self, conn: psycopg.Connection[Any], dice: random.Random, name: str) -> None:
        """Now and then cut statements off in the middle."""
        if name != "observer":
            cut = self.troubled() and dice.random() < 0.1
            limit = dice.choice([1, 3, 10, 30]) if cut else 0
            conn.execute(f"set statement_timeout = {limit}")

    # what the threads do

    def produce(self, conn: psycopg.Connection[Any], dice: random.Random, name: str) -> None:
        if not self.troubled():
            self.over.wait(0.2)
            return
        conn.execute(
            "begin isolation level " + dice.choice(["read committed"] * 3 + ["repeatable read"])
        )
        for _ in range(dice.randint(1, 3)):
            later = dice.choice([None, None, "0.05 s"])
            if dice.random() < 0.7:
                conn.execute(
                    "select qwf.enqueue_run(%s, context => %s, key => %s,"
                    " run_at => now() + %s::interval)",
                    (
                        dice.choice(MIX),
                        json.dumps({"skip": dice.random() < 0.5}),
                        dice.choice([None, "k1", "k2"]),
                        later,
                    ),
                )
            else:
                conn.execute(
                    "select qwf.enqueue('t', queue => 'cpu', key => %s, max_attempts => 3,"
                    " expires => %s, run_at => now() + %s::interval)",
                    (dice.choice([None, "k1", "k2"]), dice.choice([None, "1 h"]), later),
                )
        if dice.random() < 0.3:
            self._change_something(conn, dice)
        conn.execute("commit" if dice.random() < 0.9 else "rollback")
        self.over.wait(dice.random() * 0.1)

    def interfere(self, conn: psycopg.Connection[Any], dice: random.Random, name: str) -> None:
        if self.troubled():
            conn.execute("begin")
            self._change_something(conn, dice)
            self.over.wait(dice.random() * 0.05)  # an open transaction
            conn.execute("commit" if dice.random() < 0.9 else "rollback")
        answer = (
            "select qwf.submit_input(run_id, node_id, '\"yes\"') from qwf.pending_inputs limit 3"
        )
        conn.execute(answer)
        self.over.wait(dice.random() * 0.05)

    def _change_something(self, conn: psycopg.Connection[Any], dice: random.Random) -> None:
        pick = " order by random() limit 1"
        act = dice.choice(
            [
                f"select qwf.cancel_run(id) from ({LIVE_RUNS}{pick}) r",
                f"select qwf.cancel_job(id) from ({LIVE_JOBS}{pick}) j",
                f"select qwf.cancel_job(id) from ({LIVE_JOBS} and status = 'scheduled'{pick}) j",
                "select qwf.submit_input(run_id, node_id, '\"yes\"') from qwf.pending_inputs"
                + pick,
            ]
        )
        conn.execute(act)

    def work(self, conn: psycopg.Connection[Any], dice: random.Random, name: str) -> None:
        strict = self.troubled() and dice.random() < 0.1
        isolation = "repeatable read" if strict else "read committed"
        conn.execute(f"set default_transaction_isolation = '{isolation}'")
        held = self._claim(conn, dice, name)
        if not held:
            self.over.wait(0.01)
            return
        if self.troubled() and dice.random() < 0.3:
            beat = "select * from qwf.heartbeat(%s, %s::uuid[], '1 s')"
            conn.execute(beat, (name, [token for _, token in held]))
            conn.execute("select qwf.progress(%s, %s, 0.5, 'half')", held[0])
        if self.troubled() and dice.random() < 0.03:
            conn.execute("select qwf.deregister_worker(%s)", (name,))
        asleep = [job for job in held if self.troubled() and dice.random() < 0.04]
        batch = [self._report(dice, *job) for job in held if job not in asleep]
        with self.zombies:  # late claims are reported long after their lease has expired
            self.late += asleep
            if len(self.late) > 20 or not self.troubled():
                batch += [self._report(dice, *job) for job in self.late]
                self.late.clear()
        if dice.random() < 0.2:
            batch += dice.sample(batch, len(batch) // 2)  # some reports are sent twice
        dice.shuffle(batch)
        if dice.random() < 0.3:
            answers = conn.execute(FINISH_AND_CLAIM, (json.dumps(batch), name)).fetchall()
            more = [(job, token) for job, verdict, _, token in answers if verdict is None]
            self._check(batch, [row[:3] for row in answers[: len(batch)]])
            assert len(batch) + len(more) == len(answers)
            batch = [self._report(dice, *job) for job in more]
        query = "select job_id, verdict, pending from qwf.finish_many(%s)"
        answers = conn.execute(query, (json.dumps(batch),)).fetchall()
        self._check(batch, answers)
        if any(pending for *_, pending in answers) and dice.random() < 0.5:
            conn.execute("select qwf.drain_outbox()")

    def _check(self, batch: list[dict[str, Any]], answers: list[Any]) -> None:
        for report, (job, verdict, _) in zip(batch, answers, strict=True):
            assert report["job_id"] == job
            self.verdicts.append((report["token"], report["outcome"], verdict))

    def _claim(self, conn: psycopg.Connection[Any], dice: random.Random, name: str) -> list[Any]:
        if not self.troubled() or dice.random() < 0.8:
            return conn.execute(CLAIM, ("cpu", name, dice.choice([1, 2, 8]))).fetchall()
        conn.execute("begin")
        held = conn.execute(CLAIM, ("cpu", name, 2)).fetchall()
        self.over.wait(0.02)  # an open transaction
        if dice.random() < 0.5:
            conn.execute("rollback")
            return []
        conn.execute("commit")
        return held

    def _report(self, dice: random.Random, job: int, token: str) -> dict[str, Any]:
        outcome = "completed"
        if self.troubled():
            (outcome,) = dice.choices(list(OUTCOMES), list(OUTCOMES.values()))
        output = {"y": token} if dice.random() < 0.98 or not self.troubled() else {}
        return {"job_id": job, "token": token, "outcome": outcome, "output": output}

    def run_engine(self, conn: psycopg.Connection[Any], dice: random.Random, name: str) -> None:
        if self.troubled() and dice.random() < 0.1:  # looks like a hang to the others
            conn.execute("begin")
            conn.execute("select qwf.tick()")
            conn.execute("select setval('qwf.last_tick', 0)")
            self.over.wait(0.1)
            conn.execute("commit" if dice.random() < 0.7 else "rollback")
            return
        report = conn.execute("select qwf.tick()").fetchone()[0]  # type: ignore[index]
        errors = report.get("errors", {}).values()
        if any("statement timeout" not in error for error in errors):
            self.faults.append(f"{name}: {report}")
        self.over.wait(0.02)

    def kill(self, conn: psycopg.Connection[Any], dice: random.Random, name: str) -> None:
        self.over.wait(dice.random() * 0.4)
        victims = [n for n in self.backends if not n.startswith(("killer", "observer"))]
        if self.troubled() and victims:
            conn.execute("select pg_terminate_backend(%s)", (self.backends[dice.choice(victims)],))

    def observe(self, conn: psycopg.Connection[Any], dice: random.Random, name: str) -> None:
        for row in conn.execute("select * from qwf.check_invariants() limit 5").fetchall():
            self.faults.append(f"violated: {row}")
        left = f"select exists ({LIVE_RUNS}) or exists ({LIVE_JOBS})"
        left += " or exists (select from qwf.outbox)"
        left += " or exists (select from qwf.cancel_requests)"
        done = conn.execute(left).fetchone() == (False,)
        if self.faults or time.monotonic() > self.end or (done and not self.troubled()):
            self.over.set()
        self.over.wait(0.1)


MIX = [
    "single",
    "pair",
    "chain",
    "fanin",
    "diamond",
    "diamond",
    "guarded",
    "asked_beside",
    "asked_later",
]
THREADS = {
    "producer": Storm.produce,
    "interferer": Storm.interfere,
    "worker 1": Storm.work,
    "worker 2": Storm.work,
    "worker 3": Storm.work,
    "engine 1": Storm.run_engine,
    "engine 2": Storm.run_engine,
    "killer": Storm.kill,
    "observer": Storm.observe,
}
AFTERWARDS = {
    "a pick that was not handed out": "select job_id from public.picks where why is null",
    "a live run": LIVE_RUNS,
    "a live job": LIVE_JOBS,
    "an event": "select * from qwf.outbox",
    "a request": "select * from qwf.cancel_requests",
    "a job that is not completed by one attempt": """
        select j.id, j.status, count(a) from qwf.jobs j
        left join qwf.job_attempts a on a.job_id = j.id and a.outcome = 'completed'
        where j.input_spec is null
        group by j.id having count(a) <> (j.status = 'completed')::int""",
    "an output not of the completing attempt": """
        select j.id from qwf.jobs j
        join qwf.job_attempts a on a.job_id = j.id and a.outcome = 'completed'
        where j.output <> '{}' and j.output ->> 'y' <> a.token::text""",
    "a token that ended two attempts": """
        select token from qwf.job_attempts where token is not null
        group by token having count(*) > 1""",
    "two attempts at once": """
        select a.job_id from qwf.job_attempts a
        join qwf.job_attempts b on b.job_id = a.job_id and b.attempt = a.attempt + 1
        where b.started_at < a.finished_at""",
    "a node that started before its dependencies ended": """
        select j.id, d.id, d.status, d.finished_at, j.started_at from qwf.jobs j
        join qwf.graph_edges e on e.graph_id = j.graph_id and e.to_idx = j.node_idx
        join qwf.jobs d on d.run_id = j.run_id and d.node_idx = e.from_idx
        where j.started_at is not null
          and (d.status not in ('completed', 'skipped') or d.finished_at > j.started_at)""",
    "a completed run with an uncompleted node": """
        select r.id from qwf.runs r join qwf.jobs j on j.run_id = r.id
        where r.status = 'completed' and j.status not in ('completed', 'skipped')""",
    "a failed run without a reason": """
        select id from qwf.runs where status = 'failed' and error is null""",
    "a deadlock": """
        select deadlocks from pg_stat_database
        where datname = current_database() and deadlocks > 0""",
}


@pytest.mark.parametrize("seed", [1])
def test_everything_at_once(race: Race, connect: Connect, dsn: str, seed: int) -> None:
    for workflow in WORKFLOWS:
        race.register(workflow)
    race.rows(
        "update qwf.settings set error_backoff = '[0.02]', transient_backoff = '[0, 0.02]',"
        " error_attempts = 3, max_losses = 9"
    )
    race.rows(PICKS)
    put_in(dsn, "qwf.claim", SUPERSEDE, PICKED)
    put_in(dsn, "qwf.claim", USE, HANDED_OUT)
    storm = Storm(lambda: psycopg.connect(dsn, autocommit=True), seed)
    threads = [
        threading.Thread(target=storm.loop, args=(name, act.__get__(storm)), name=name)
        for name, act in THREADS.items()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TROUBLE_S + RECOVERY_S + 20)
        assert not thread.is_alive(), f"{thread.name} hangs"
    assert storm.faults == []
    found = {what: race.rows(query) for what, query in AFTERWARDS.items()}
    assert {what: rows for what, rows in found.items() if rows} == {}

    written = set(race.rows("select token::text, outcome from qwf.job_attempts"))
    for token, outcome, verdict in storm.verdicts:
        if verdict == "ok" or outcome != "lost":  # that it was lost, reclaim may have written
            assert ((token, outcome) in written) == (verdict == "ok"), (token, outcome, verdict)
    assert race.one("select count(*) from qwf.runs where status = 'completed'") > 10
    assert {v for *_, v in storm.verdicts} == {"ok", "lost"}
