"""A hypothesis state machine that drives a real database and the model side by side.

After each step the two have to agree about every job and run, every answer and every refusal, and
qwf.check_invariants() has to be empty. At the end of a sequence all work is done; it has to end.

The clock stands still between steps. A second session may have a transaction open: the model of it
is a copy that is merged when it commits.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import psycopg
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from psycopg.types.json import Jsonb

from support.machine import reading
from support.machine.engine_model import Model
from support.machine.state import (
    ACTIVE,
    KEYED,
    LIMITS,
    LIVE_RUN,
    OVER,
    RATES,
    Diverged,
    Refused,
    Report,
    Worker,
    require,
)
from support.machine.workflows import ENGINE, FAST, WORKFLOWS, Node, definitions

Json = Any
START = datetime(2030, 1, 1, tzinfo=timezone.utc)
JITTER = 0.1
MAX_RUNS, MAX_JOBS, MAX_WORKERS = 4, 6, 3  # of one sequence
WORKERS = ("w1", "w2")  # who never register
HOSTS = ("h1", "h2")

# A clock that sessions set, and a switch that makes opening a node fail.
REPLACE_CLOCK = """
create or replace function qwf.now() returns timestamptz language sql volatile
as $$ select pg_catalog.current_setting('qwf_test.now')::pg_catalog.timestamptz $$;
create function qwf_test.tg_machine_jam() returns trigger language plpgsql
as $$ begin raise exception 'jammed'; end $$;
create trigger machine_jam before update on qwf.jobs for each row
when (old.status = 'blocked' and new.status not in ('blocked', 'cancelled')
  and pg_catalog.current_setting('qwf_test.jam', true) = 'on')
execute function qwf_test.tg_machine_jam();
"""
# Deleting a few rows is a hundred times faster than truncating.
TABLES = (
    *("jobs", "runs", "outbox", "cancel_requests", "job_attempts", "input_answers"),
    *("waits", "signals", "checkpoints", "job_progress", "attempt_series"),
    *("run_files", "workers", "worker_controls", "sleepers", "attempt_counts", "hourly_counts"),
    *("host_minutes", "queue_minutes", "held_tasks"),
)
CREATE_LIMIT = "select qwf.create_limit(%s, %s, %s, %s::interval, keyed => %s)"


def limit_given(name: str, count: int) -> list[Any]:
    """The values for CREATE_LIMIT."""
    starts, per = RATES.get(name, (None, None))
    return [name, count, starts, per and f"{per.total_seconds()} s", name in KEYED]


def quoted(value: object) -> str:
    """A value as SQL writes it."""
    return "null" if value is None else f"'{value}'"


RESET = f"""
{";".join(f"delete from qwf.{table}" for table in TABLES)};
update qwf.queues set paused = false, max_running = null where paused or max_running is not null;
update qwf.queues set placement = 'spread' where name = 'cpu' and placement = 'pack';
delete from qwf.limit_slots; delete from qwf.limit_starts; delete from qwf.limit_keys;
delete from qwf.limits;
{";".join(CREATE_LIMIT % tuple(map(quoted, limit_given(*one))) for one in LIMITS.items())};
delete from _qwf.event_log; delete from _qwf.event_totals; delete from _qwf.run_totals;
delete from qwf.usual_times; delete from _qwf.open_states; delete from _qwf.late_jobs;
update _qwf.judged set learned_seq = 0, run_floor = 0;
update _qwf.event_numbers set first_seq = 1, last_seq = 0, floor_id = 0, mark_id = 0;
select setval('qwf.next_roll_up', 0), setval('qwf.prune_job', 0), setval('qwf.last_tick', 0),
  setval('qwf.last_complete_tick', 0),
  setval('qwf.jobs_id_seq', 1, false), setval('qwf.runs_id_seq', 1, false);
select setval('_qwf.turn_' || of || '_' || n, 0, false)
from unnest('{{owner,place}}'::text[]) of, generate_series(0, 15) n;
"""
SAME_CHANCE = "select setseed(0)"  # the same steps lead to the same waits, also when replayed
JOBS = """
select j.id, j.run_id, j.status::text, j.queue, j.priority, j.run_next, j.attempt, j.failures,
  j.losses, j.begun, j.token::text, j.lease_expires_at,
  case when j.status = 'blocked' then j.remaining_deps end,
  case when j.status = 'running' then j.claimed_by end,
  j.output, case when j.status <> 'cancelled' then j.last_error is not null end,
  array(select a.outcome from qwf.job_attempts a where a.job_id = j.id order by a.attempt),
  case when j.status in ('queued', 'scheduled', 'running') then j.avoid_host end,
  case when j.status in ('queued', 'scheduled', 'running') then j.avoid_until end,
  case when j.status = 'scheduled' then j.run_at end, j.claimed_by, (j.options).start_by
from qwf.jobs j
"""
RUNS = """
select r.id, r.status::text, r.priority, r.error is not null, r.finished_at is not null,
  case when r.finished_at is null then r.ending::text end
from qwf.runs r
"""
FLEET = """
select w.id, w.current_model, w.stopped_at is not null, w.last_seen,
  exists (select from qwf.switched_off o where o.host = w.host and o.queue = 'cpu')
from qwf.workers w
union all
select l.name, l.max_running::text, null, null, null from qwf.limits l
"""
HELD = """
select h.queue, h.task, h.hosts, h.crashes, h.crashed_at, h.until, h.holds, h.trial_job,
  h.trial_attempt,
  array(select w.id from qwf.workers w where w.queue = h.queue and h.task = any (w.held_tasks)
    order by w.id)
from qwf.held_tasks h order by h.queue, h.task
"""
TRIALS = "select queue, task, trial_job, trial_attempt from qwf.held_tasks"
EVENTS = """
select o.run_id, coalesce(o.job_id, 0), o.kind from qwf.outbox o where o.poisoned_at is null
"""
BROKEN = "select * from qwf.check_invariants()"


class Session:
    """A database session and the model of what it sees."""

    def __init__(self, dsn: str) -> None:
        self.conn: psycopg.Connection[Any] = psycopg.connect(dsn, autocommit=True)
        self.conn.prepare_threshold = 1
        self.conn.execute("set client_min_messages = error; set lock_timeout = '5s'")
        self.model = Model(START)

    def rows(self, query: str, *args: Any) -> list[Any]:
        self.model.runs_due = False  # is forgotten at the end of each transaction
        cursor = self.conn.execute(query, args)  # type: ignore[arg-type]
        return cursor.fetchall() if cursor.description else []

    def ask(self, query: str, *args: Any) -> Any:
        """The rows of a statement, or its refusal."""
        try:
            return self.rows(query, *args)
        except psycopg.Error as error:
            require((error.sqlstate or "").startswith("QW"), "refusals are QW", query, args, error)
            return Refused(str(error.sqlstate))

    def one(self, query: str, *args: Any) -> Any:
        """The value of a statement, or its refusal."""
        answer = self.ask(query, *args)
        return answer if isinstance(answer, Refused) else answer[0][0]

    def set_now(self, now: datetime) -> None:
        self.model.now = now
        self.rows("select set_config('qwf_test.now', %s, false)", now.isoformat())

    def compare(self) -> None:
        """Assert that the database holds what the model holds, and that it is healthy."""
        model = self.model
        self.name_made()
        with self.conn.pipeline():  # one round trip
            cursors = [self.conn.execute(q) for q in (JOBS, RUNS, FLEET, HELD, EVENTS, BROKEN)]
        jobs, runs, fleet, held, events, broken = (cursor.fetchall() for cursor in cursors)
        found = {row[0]: row for row in jobs}
        require(set(found) == set(model.jobs), "jobs there are", set(found), set(model.jobs))
        for job_id, row in found.items():
            job = model.jobs[job_id]
            if job.queue == ENGINE and job.status == row[2] == "running":
                job.token, job.lease_until = row[10:12]
            wanted = (
                job_id,
                job.run,
                job.status,
                job.queue,
                job.priority,
                job.run_next,
                job.attempt,
                job.failures,
                job.losses,
                job.begun,
                job.token,
                job.lease_until,
                len(job.missing) if job.status == "blocked" else None,
                job.worker if job.status == "running" else None,
                job.output,
                job.failed if job.status != "cancelled" else None,
                job.attempts,
                *((job.avoids if job.status in ACTIVE else None) or (None, None)),
            )
            require(row[: len(wanted)] == wanted, f"job {job.node.name} is, is to be", row, wanted)
            require(row[-1] == job.start_by, "its latest start is, is to be", row, job)
            if job.status == "scheduled":
                self._adopt_wait(job, row[len(wanted)])
        wanted_runs = {
            (
                r.id,
                r.status,
                r.priority,
                r.status in ("failed", "cancelled") or r.ending is not None,
                not r.live,
                r.ending if r.live else None,
            )
            for r in model.runs.values()
        }
        require(set(runs) == wanted_runs, "runs are, are to be", runs, wanted_runs)
        wanted_fleet: set[Any] = {
            (name, w.model, w.stopped, w.seen, model.is_off(w.host))
            for name, w in model.workers.items()
        }
        limits = {**model.limits, **({"queue:cpu": model.room} if model.room else {})}
        wanted_fleet |= {(name, str(count), None, None, None) for name, count in limits.items()}
        require(set(fleet) == wanted_fleet, "workers and limits are", fleet, wanted_fleet)
        wanted_held = [
            (
                *of, sorted(c.hosts), c.crashes, c.at, c.until, c.holds, *(c.trial or (None, None)),
                sorted(n for n, w in model.workers.items() if of[0] == "cpu" and of[1] in w.held),
            )
            for of, c in sorted(model.crashed.items())
        ]  # fmt: skip
        require(held == wanted_held, "tasks that have crashed are", held, wanted_held)
        wanted_events = sorted((r.id, *e) for r in model.runs.values() for e in r.pending)
        require(sorted(events) == wanted_events, "events are, are to be", events, wanted_events)
        require(not broken, "an invariant is violated", broken)

    def name_made(self) -> None:
        """Learn the ids of elements and of runs of steps that were made."""
        if any(key < 0 for key in (*self.model.jobs, *self.model.runs)):
            due = self.model.runs_due
            runs = self.rows("select parent_id, parent_attempt, id from qwf.runs where depth > 0")
            jobs = self.rows("select run_id, node_id, id from qwf.jobs where run_id is not null")
            self.model.name_made({(a, b): c for a, b, c in runs}, {(a, b): c for a, b, c in jobs})
            self.model.runs_due = due

    def _adopt_wait(self, job: Any, run_at: datetime) -> None:
        """A wait may be a tenth longer or shorter."""
        wanted = job.run_at
        wait = (wanted - self.model.now) if not job.jittered else timedelta()
        require(abs(run_at - wanted) <= wait * JITTER, "the wait is", job, run_at, wanted)
        job.run_at, job.jittered = run_at, True


def prepare(dsn: str) -> None:
    """Make a database of the engine one for the machine."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(REPLACE_CLOCK)
        conn.execute("select set_config('qwf_test.now', %s, false)", [START.isoformat()])
        for limit, count in LIMITS.items():
            conn.execute(CREATE_LIMIT, limit_given(limit, count))
        for workflow in WORKFLOWS:
            pipelines, definition = definitions(workflow)
            for pipeline in pipelines:
                conn.execute("select qwf.register_pipeline(%s)", [Jsonb(pipeline)])
            conn.execute("select qwf.register_workflow(%s)", [Jsonb(definition)])


numbers = st.integers(0, 63)
outcomes = st.sampled_from(
    ["completed"] * 4 + ["lost", "released"] * 2 + ["error", "fatal", "tempfail", "cancelled"]
)
outputs = st.sampled_from(
    [
        *({"y": 1}, {"y": 1, "z": 2}, {"y": 2, "z": 1}, {"y": 3, "skip": True}, {}, None),
        *({"y": 1, "list": []}, {"y": 1, "list": [{"p": 1}]}, {"list": 5}),
    ]
)
bodies = st.tuples(numbers, outcomes, outputs)
jams = st.sampled_from([False, False, True])
jumps = st.sampled_from([1, 7, 31, 67, 1009]).map(lambda s: timedelta(seconds=s))
leases = st.none() | st.just(timedelta(seconds=100.5))
keys = st.sampled_from([None, None, "k"])
later = st.none() | st.none() | st.sampled_from([15.5, 0.0]).map(lambda s: timedelta(seconds=s))
values = st.sampled_from(["yes", "no", 7, "retry", "skip", "abort"])
MEDDLING = ["cancel_job", "cancel_run", "retry_job", "retry_run", "retry_run", "run_next"]
MEDDLING += ["change_job", "pause", "deregister_worker", "cancel_jobs", "retry_jobs"]
MANAGING = ["switch", "switch", "withdraw_worker", "create_limit", "drop_limit", "limit_queue"]
MANAGING += ["place", "sleep", "sleep", "wake"]
INFO: list[Json] = [  # what workers say about themselves
    {},
    {"labels": FAST},
    {"labels": FAST, "rank": -1},
    {"labels": FAST, "slots": 3, "writes_begun": True},
    {"tasks": ["t"], "vram_mb": 50},
    {"models": ["m"], "current_model": "m"},
    {"models": ["m", "n"], "current_model": "n", "vram_mb": 200, "labels": FAST},
]
# model, MiB of VRAM, labels
NEEDS: list[Any] = [("m", None, {}), ("n", 100, {}), ("m", 100, FAST), (None, None, FAST)]
# Runs with priority 50 that wait in line, and how.
IN_LINE = {"diamond", "fan", "inner", "inner_late", "inner_takes_back", "parent_takes_back"}
IN_LINE |= {"takes_back"}
LINES = {
    skip: Node("run", (), workflow="", limit="line", max_attempts=2, backoff=[wait])
    for skip, wait in ((False, 0), (True, 10))
}
CHORES = ["read", "lapse", "promote_due", "promote_due", "drain_outbox", "tick", "tick", "prune"]
HOLDING = ["lock", "lock", "answer", "cancel", "claim", "finish"]
CHANGES = [  # priority, queue, seconds from now
    (50, None, None),
    (None, "gpu", None),
    (None, "none", None),
    (None, "cpu", 0.0),
    (100, None, 15.5),
]


def pick(pool: Any, number: int) -> Any:
    """The same member for the same number."""
    pool = list(pool)
    return pool[number % len(pool)]


class Machine(RuleBasedStateMachine):
    """One sequence of steps; `main` and `other` are set by `machine_on`."""

    main: Session
    other: Session
    workflows: tuple[str, ...] = tuple(sorted(WORKFLOWS))
    steps = 0

    def __init__(self) -> None:
        super().__init__()
        self.fine = False  # whether the last step ended as it should
        self.opened: Model | None = None  # what the open transaction began with
        if self.other.conn.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            self.other.rows("rollback")
        self.main.rows("select set_config('qwf_test.now', %s, false)", START.isoformat())
        self.main.rows(RESET)
        self.main.rows("select set_config('qwf_test.jam', '', false)")
        for session in (self.main, self.other):
            session.rows(SAME_CHANCE)
        self.main.model = Model(START)
        self._set_now(START)
        self.fine = True

    @contextmanager
    def step(self) -> Iterator[Session]:
        """The main session, to do something with; compared with its model afterwards."""
        type(self).steps += 1
        self.fine = False
        self.main.model.turn += 1
        yield self.main
        self.main.compare()
        self.fine = True

    def _set_now(self, now: datetime) -> None:
        self.main.set_now(now)
        self.other.set_now(now)

    # what there is to choose from; nothing that would wait for the open transaction

    @property
    def model(self) -> Model:
        return self.main.model

    def jobs(self, *states: str) -> list[int]:
        """Jobs in these states; of the running ones, those that workers hold."""
        jobs = [job for job in self.model.jobs.values() if not states or job.status in states]
        return [job.id for job in jobs if job.queue != ENGINE or states != ("running",)]

    def own(self, *states: str) -> list[int]:
        """Jobs that are no runs of steps."""
        return [job_id for job_id in self.jobs(*states) if self.model.jobs[job_id].queue != ENGINE]

    def runs_begun(self) -> int:
        """How many runs there are that are no steps of others."""
        return sum(run.parent is None or run.in_line for run in self.model.runs.values())

    def free_jobs(self, *states: str) -> list[int]:
        """Jobs whose run, too, nobody holds; not those with which runs wait in line."""
        return [
            job_id
            for job_id in self.jobs(*states)
            if job_id not in self.model.locked_jobs
            and (self.model.jobs[job_id].run or self.model.jobs[job_id].queue != ENGINE)
            and self.model.jobs[job_id].run not in self.model.locked_runs
        ]

    def free_retries(self, *states: str) -> list[int]:
        """Free jobs, but no step while somebody holds a run: its retry may wait for runs below."""
        return [
            job_id
            for job_id in self.free_jobs(*states)
            if not self.model.locked_runs or self.model.jobs[job_id].queue != ENGINE
        ]

    def free_runs(self, *states: str) -> list[int]:
        return [
            run.id
            for run in self.model.runs.values()
            if run.id not in self.model.locked_runs
            and not set(run.nodes.values()) & self.model.locked_jobs
            and (not states or run.status in states)
        ]

    def held(self) -> list[int]:
        return [job_id for job_id in self.jobs("running") if job_id not in self.model.locked_jobs]

    # enqueueing

    @initialize(workflow=numbers, skip=st.booleans())
    def begin(self, workflow: int, skip: bool) -> None:
        with self.step() as main:
            enqueue_run(main, pick(self.workflows, workflow), skip)

    @precondition(lambda self: self.runs_begun() < MAX_RUNS)
    @rule(
        workflow=numbers,
        skip=st.booleans(),
        priority=st.sampled_from([100, 100, 50]),
        key=keys,
        once=st.booleans(),
        wait=later,
    )
    def enqueue_run(
        self, workflow: int, skip: bool, priority: int, key: Any, once: bool, wait: Any
    ) -> None:
        with self.step() as main:
            key = None if self.opened else key  # else it might wait for the open transaction
            once = once and key is not None
            name = pick(self.workflows, workflow)
            plain = key is None and wait is None and not self.opened
            line = LINES[skip] if plain and priority == 50 and name in IN_LINE else None
            enqueue_run(main, name, skip, priority, key, once, wait, line)

    @precondition(lambda self: len(self.model.jobs) < MAX_JOBS)
    @rule(
        task=st.sampled_from(["t", "u"]),
        key=keys,
        once=st.booleans(),
        wait=later,
        attempts=st.sampled_from([None, 1, 2, 3]),
        backoff=st.sampled_from([None, [0], [0, 10]]),
        priority=st.sampled_from([100, 100, 50]),
        limit=st.sampled_from(
            [None] * 4
            + ["one", "two", "calls"] * 2
            + ["three", "customer:a", "customer:b", "host:a", "host:a", "host:b"]
        ),
        on_failure=st.sampled_from(["fail", "ask", "once"]),
        expires=st.sampled_from([None, None, timedelta(seconds=20.25)]),
        needs=st.sampled_from([(None, None, {})] * 3 + NEEDS),
    )
    def enqueue(
        self,
        task: str,
        key: Any,
        once: bool,
        wait: Any,
        attempts: Any,
        backoff: Any,
        priority: int,
        limit: str | None,
        on_failure: str,
        expires: timedelta | None,
        needs: tuple[str | None, int | None, Json],
    ) -> None:
        with self.step() as main:
            model, vram, requires = needs
            key = None if self.opened else key  # else it might wait for the open transaction
            once = key is not None  # keys that merge: tests/races/test_edits.py
            run_at = None if wait is None else main.model.now + wait
            node = Node(
                task,
                (),
                max_attempts=attempts,
                backoff=backoff,
                limit=limit,
                on_failure="ask" if on_failure == "ask" else "fail",
                at_most_once=on_failure == "once",
                model=model,
                vram=vram,
                requires=requires,
            )
            enqueue(main, node, priority, key, once, run_at, expires)

    @precondition(lambda self: len(self.model.jobs) < MAX_JOBS and not self.opened)
    @rule(
        text=numbers,
        debounce=st.sampled_from([None, 5.5, 5.5, 30.25]),
        attempts=st.sampled_from([None, 2]),
    )
    def edit(self, text: int, debounce: float | None, attempts: int | None) -> None:
        with self.step() as main:
            wait = None if debounce is None else timedelta(seconds=debounce)
            edit(main, Node("e", (), max_attempts=attempts), {"n": text}, wait)

    # working

    @rule(worker=numbers, count=st.sampled_from([1, 1, 2, 5]), lease=leases)
    def claim(self, worker: int, count: int, lease: timedelta | None) -> None:
        with self.step() as main:
            claim(main, self._worker(worker), count, lease)

    def _worker(self, number: int) -> str:
        """One that may claim. Which limited job comes when for one that has a model or takes the
        newest is open, and so is whether what somebody has locked is the head of the queue."""
        named = self.model.workers
        if self._contended():
            named = {n: w for n, w in named.items() if w.model is None and not w.overflow}
        return str(pick([*named, *WORKERS], number))

    @precondition(lambda self: self.jobs("queued"))
    @rule(worker=numbers, count=st.sampled_from([1, 2, 5]), output=outputs, jam=jams)
    def work(self, worker: int, count: int, output: Json, jam: bool) -> None:
        """Do what workers do most of the time."""
        with self.step() as main:
            if claimed := claim(main, self._worker(worker), count):
                main.model.turn += 1
                done = [self._report(job_id, "completed", output) for job_id in claimed]
                finish(main, done, jam)

    @precondition(lambda self: self.held())
    @rule(bodies=st.lists(bodies, min_size=1, max_size=3), jam=jams)
    def finish(self, bodies: list[tuple[int, str, Json]], jam: bool) -> None:
        """Attempts end, some reported twice; the fan-out may fail."""
        with self.step() as main:
            held = self.held()
            reports = [self._report(pick(held, n), how, what) for n, how, what in bodies]
            finish(main, reports, jam)

    @precondition(lambda self: self.held())
    @rule(
        bodies=st.lists(bodies, min_size=1, max_size=3),
        worker=numbers,
        count=st.sampled_from([1, 2, 5]),
        jam=jams,
    )
    def finish_and_claim(
        self, bodies: list[tuple[int, str, Json]], worker: int, count: int, jam: bool
    ) -> None:
        """Attempts end, and the same call claims."""
        with self.step() as main:
            held = self.held()
            reports = [self._report(pick(held, n), how, what) for n, how, what in bodies]
            finish_and_claim(main, reports, self._worker(worker), count, jam)

    def _report(self, job_id: int, outcome: str, output: Json) -> Report:
        job = self.model.jobs[job_id]
        error = "broken" if outcome in ("error", "fatal", "tempfail") else None
        return Report(job_id, str(job.token), outcome, output, error)

    @precondition(lambda self: self.jobs("queued") and not self.opened)
    @rule(completed=st.sampled_from([1, 2, 3]), how=st.sampled_from(["error", "fatal"]))
    def go_wrong(self, completed: int, how: str) -> None:
        """Work goes on for a while, then what is claimed fails, and its next try becomes due."""
        with self.step() as main:
            for turn in range(completed + 1):
                main.model.turn += 1
                outcome = "completed" if turn < completed else how
                claimed = claim(main, "w1", 5)
                finish(main, [self._report(job_id, outcome, {"y": turn}) for job_id in claimed])
            self._set_now(main.model.now + timedelta(seconds=12))
            main.model.turn += 1
            tick(main)

    @precondition(lambda self: self.model.reports)
    @rule(number=numbers, outcome=outcomes, output=outputs, same=st.booleans())
    def finish_late(self, number: int, outcome: str, output: Json, same: bool) -> None:
        """A report with the token of an attempt that has ended: the very same, or another."""
        with self.step() as main:
            ended = pick(self._late_reports(), number)
            if same and ended.error != "lapsed":
                finish(main, [ended])
            elif not same and outcome != ended.outcome:  # else it is open what counts as the same
                finish(main, [Report(ended.job, ended.token, outcome, output)])

    @precondition(lambda self: self.held() and not self.opened)
    @rule(number=numbers, outcome=outcomes, how=st.sampled_from(["released", "lost"]))
    def come_back(self, number: int, outcome: str, how: str) -> None:
        """Somebody reports an attempt that has ended, while the job runs again."""
        with self.step() as main:
            report = self._report(pick(self.held(), number), how, None)
            finish(main, [report])
            claim(main, "w2", 5)
            if outcome != how:
                finish(main, [Report(report.job, report.token, outcome, {"y": 9})])

    @precondition(lambda self: self.jobs("queued") and not self.opened)
    @rule(how=st.sampled_from(["lost", "lost", "released"]), apart=st.sampled_from([7, 31]))
    def lose(self, how: str, apart: int) -> None:
        """A host loses a job, or gives it back; then it asks for one again, and so does another."""
        with self.step() as main:
            worker, other = (self._registered(host, {}) for host in HOSTS)
            finish(main, [self._report(job_id, how, None) for job_id in claim(main, worker, 1)])
            self._set_now(
                main.model.now + timedelta(seconds=apart)
            )  # is the other one still alive?
            claim(main, worker, 1)
            claim(main, other, 1)

    @precondition(lambda self: len(self.model.jobs) < MAX_JOBS + 6 and not self._contended())
    @rule(apart=st.sampled_from([7, 67]), priority=st.sampled_from([50, 100]))
    def keep_warm(self, apart: int, priority: int) -> None:
        """Somebody with a model loaded finds work for it, behind other work or before it."""
        with self.step() as main:
            worker = self._registered("h1", {"models": ["m"], "current_model": "m"})
            enqueue(main, Node("t", ()))
            self._set_now(main.model.now + timedelta(seconds=apart))
            main.model.turn += 1
            enqueue(main, Node("u", (), model="m"), priority)
            claim(main, worker, 1)

    @precondition(lambda self: len(self.model.jobs) < MAX_JOBS + 6 and not self.opened)
    @rule(apart=st.sampled_from([7.5, 31.0]), count=st.sampled_from([1, 3]))
    def pace(self, apart: float, count: int) -> None:
        """Jobs of two keys of a limit with a rate: what starts at once, and what after a while."""
        with self.step() as main:
            for key in ("host:a", "host:a", "host:a", "host:b"):
                enqueue(main, Node("t", (), limit=key), 50)
            for wait in (0.0, 0.0, 0.0, apart):
                self._set_now(main.model.now + timedelta(seconds=wait))
                claim(main, "w1", count)

    @precondition(lambda self: len(self.model.jobs) < MAX_JOBS + 6 and not self.opened)
    @rule(number=numbers)
    def lower(self, number: int) -> None:
        """A queue is limited, and the limit lowered under what runs, of which one ends."""
        with self.step() as main:
            limit_queue(main, 3)
            for _ in range(4):
                enqueue(main, Node("t", ()), 50)
            claim(main, "w1", 3)
            limit_queue(main, 1)
            if held := self.held():
                finish(main, [self._report(pick(held, number), "completed", {"y": 1})])
            claim(main, "w1", 1)
            if number % 2:
                drop_limit(main, "queue:cpu")

    def _registered(self, host: str, info: Json) -> str:
        """A worker of the host that says this of itself, and no more."""
        wanted = worker_saying(host, self.model.now, info)
        for name, worker in self.model.workers.items():
            if replace(worker, seen=wanted.seen) == wanted:
                return name
        return register_worker(self.main, host, info)

    def _late_reports(self) -> list[Report]:
        """Reports about attempts that have ended; only those about jobs that run again, if any."""
        reports = list(self.model.reports.values())
        return [r for r in reports if self.model.jobs[r.job].status == "running"] or reports

    @precondition(lambda self: self.model.reports or self.jobs("running") or self.model.workers)
    @rule(
        worker=numbers,
        some=st.lists(numbers, max_size=3),
        lease=leases,
        loaded=st.sampled_from([{}, {}, {"current_model": "m"}, {"current_model": None}]),
    )
    def beat(self, worker: int, some: list[int], lease: timedelta | None, loaded: Json) -> None:
        """A heartbeat, and progress for one of the tokens."""
        with self.step() as main:
            known = {
                str(job.token): job.id
                for job in main.model.jobs.values()
                if job.token and job.queue != ENGINE
            }
            known.update((report.token, report.job) for report in self._late_reports())
            tokens = list(dict.fromkeys(pick(known, n) for n in some if known))
            name = pick([*main.model.workers, *WORKERS], worker)
            query = "select token::text, verdict from qwf.heartbeat(%s, %s::uuid[], %s, %s)"
            got: Any = dict(main.rows(query, name, tokens, lease, Jsonb(loaded)))
            wanted: Any = main.model.heartbeat(name, tokens, lease, loaded)
            require(got == wanted, "heartbeat answers", got, wanted)
            for token in tokens[:1]:
                begun = len(some) % 2 == 1 and known[token] not in main.model.locked_jobs
                query = "select qwf.progress(%s, %s, 0.5, 'half', begun => %s)"
                got = main.one(query, known[token], token, begun)
                wanted = main.model.progress(token, begun)
                require(got == wanted, "progress answers", got, wanted)

    # people

    @precondition(lambda self: self.free_jobs())
    @rule(number=numbers, value=values, by_run=st.booleans())
    def answer(self, number: int, value: Json, by_run: bool) -> None:
        """Mostly what is asked."""
        with self.step() as main:
            asked = pick(self.free_jobs("awaiting_input") or self.free_jobs(), number)
            if by_run and main.model.jobs[asked].run:
                submit_input(main, asked, value)
            else:
                answer_job(main, asked, value)

    @precondition(lambda self: not self.opened and self.jobs("awaiting_input", "blocked"))
    @rule(name=st.sampled_from(["go:1", "stay"]), value=st.sampled_from(["yes", "no", 7]))
    def signal(self, name: str, value: Json) -> None:
        """A program answers, before or while a node asks; 7 fits no question."""
        with self.step() as main:
            signal(main, name, value)

    @rule(act=st.sampled_from(MEDDLING), number=numbers, which=numbers)
    def meddle(self, act: str, number: int, which: int) -> None:
        with self.step() as main:
            getattr(self, "_" + act)(main, number, which)

    def _cancel_job(self, main: Session, number: int, which: int) -> None:
        if jobs := self.free_jobs():
            cancel_job(main, pick(jobs, number))

    def _cancel_run(self, main: Session, number: int, which: int) -> None:
        if runs := self.free_runs():
            cancel_run(main, pick(runs, number))

    def _retry_job(self, main: Session, number: int, which: int) -> None:
        if not (jobs := self.free_retries("failed", "cancelled") or self.free_retries()):
            return
        job_id = pick(jobs, number)
        got = main.one("select qwf.retry_job(%s)::text", job_id) or None
        wanted = main.model.retry_job(job_id)
        require(got == wanted, "retry_job answers", got, wanted)

    def _cancel_jobs(self, main: Session, number: int, which: int) -> None:
        change_jobs(main, "cancel", some(self.free_jobs(), number, which))

    def _retry_jobs(self, main: Session, number: int, which: int) -> None:
        jobs = self.free_retries("failed", "cancelled") if which % 2 else self.free_retries()
        change_jobs(main, "retry", some(jobs, number, which))

    def _retry_run(self, main: Session, number: int, which: int) -> None:
        asking = self.free_runs("awaiting_input") if which % 3 == 2 else []
        over = self.free_runs("completed", "failed", "cancelled")
        if not (runs := asking or over or self.free_runs()):
            return
        run = main.model.runs[pick(runs, number)]
        named = [] if main.model.locked_runs else run.nodes  # it may wait for runs below
        if asking:  # it goes back to a node that has ended
            ended = [n for n, job in run.nodes.items() if main.model.jobs[job].status in OVER]
            retry_run(main, run.id, pick(ended or [None], number), None)
            return
        retry_run(
            main, run.id, pick([None, None, *named], which),
            pick([None, "compensate", "keep"], number + which),
        )  # fmt: skip

    def _run_next(self, main: Session, number: int, which: int) -> None:
        if not (jobs := self.own("queued", "scheduled") or self.own()):
            return
        job_id = pick(jobs, number)
        got = main.one("select qwf.change_job(%s, run_next => true)::text", job_id) or None
        wanted = main.model.run_next(job_id)
        require(got == wanted, "run_next answers", got, wanted)

    def _change_job(self, main: Session, number: int, which: int) -> None:
        if not (jobs := self.own("queued", "scheduled") or self.own()):
            return
        job_id = pick(jobs, number)
        priority, queue, wait = pick(CHANGES, which)
        run_at = None if wait is None else main.model.now + timedelta(seconds=wait)
        got = main.one(
            "select qwf.change_job(%s, %s, %s, %s)::text", job_id, priority, queue, run_at
        )
        wanted = main.model.change_job(job_id, priority, queue, run_at)
        require((got or None) == wanted, "change_job answers", got, wanted)

    def _pause(self, main: Session, number: int, which: int) -> None:
        pause(main, "none" if number == 0 else "cpu", number % 3 == 0)

    def _deregister_worker(self, main: Session, number: int, which: int) -> None:
        if not any(
            main.model.jobs[job_id].status == "running" for job_id in main.model.locked_jobs
        ):
            worker = pick([*main.model.workers, *WORKERS], number)
            main.rows("select qwf.deregister_worker(%s)", worker)
            main.model.deregister_worker(worker)

    # workers and those who look after them

    @precondition(lambda self: len(self.model.workers) < MAX_WORKERS)
    @rule(host=st.sampled_from(HOSTS), info=st.sampled_from(INFO))
    def register_worker(self, host: str, info: Json) -> None:
        with self.step() as main:
            register_worker(main, host, info)

    @rule(act=st.sampled_from(MANAGING), number=numbers, which=numbers)
    def manage(self, act: str, number: int, which: int) -> None:
        with self.step() as main:
            getattr(self, "_" + act)(main, number, which)

    def _switch(self, main: Session, number: int, which: int) -> None:
        host, state = pick(HOSTS, number), pick(("off", "off", "on"), which)
        policy, seconds = pick(("hard", "drain", "pause"), which), pick((None, 20.5, 0), number)
        until = None if seconds is None else main.model.now + timedelta(seconds=seconds)
        query = "select qwf.worker_control(%s, 'cpu', %s, %s, until => %s)::text"
        got = main.one(query, host, state, policy, until) or None
        wanted = main.model.switch(host, state, until, policy)
        require(got == wanted, "worker_control answers", got, wanted)

    def _withdraw_worker(self, main: Session, number: int, which: int) -> None:
        worker = pick([*main.model.workers, "w1"], number)
        got = main.one("select qwf.withdraw_worker(%s, 'it only fails')", worker)
        wanted = main.model.withdraw_worker(worker)
        require(got == wanted, "withdraw_worker answers", got, wanted)

    def _create_limit(self, main: Session, number: int, which: int) -> None:
        name, count = pick((*LIMITS, "three"), number), 1 + which % 3
        main.rows(CREATE_LIMIT, *limit_given(name, count))
        main.model.limits[name] = count

    def _drop_limit(self, main: Session, number: int, which: int) -> None:
        drop_limit(main, pick((*LIMITS, "three", "queue:cpu"), number))

    def _limit_queue(self, main: Session, number: int, which: int) -> None:
        if not self.opened:  # else what is being claimed just now may not count
            limit_queue(main, 1 + which % 3)

    def _place(self, main: Session, number: int, which: int) -> None:
        if not self.opened:  # it claims under the placement that it has seen
            place(main, which % 2 == 0)

    def _sleep(self, main: Session, number: int, which: int) -> None:
        sleep(main, pick([*main.model.workers, *WORKERS], number))

    def _wake(self, main: Session, number: int, which: int) -> None:
        worker = pick([*main.model.workers, *WORKERS], number)
        main.rows("select qwf.wake(%s)", worker)
        main.model.asleep.pop(worker, None)
        main.model.in_vain.pop(worker, None)

    @precondition(lambda self: len(self.model.jobs) < MAX_JOBS + 6 and not self._contended())
    @rule(number=numbers, node=st.sampled_from(NEEDS), apart=st.sampled_from([0.0, 0.0, 7.5]))
    def leave(self, number: int, node: Any, apart: float) -> None:
        """A job comes to a packed queue whose better worker is asleep; two ask for it."""
        with self.step() as main:
            place(main, True)
            best = self._registered("h1", {**pick(INFO, number), "slots": 4})
            other = self._registered("h2", {"labels": FAST})
            sleep(main, best)
            model, vram, labels = node
            main.model.turn += 1
            enqueue(main, Node("t", (), model=model, vram=vram, requires=labels))
            self._set_now(main.model.now + timedelta(seconds=apart))
            claim(main, other, 1)
            claim(main, best, 1)

    # time

    @rule(by=jumps)
    def jump(self, by: timedelta) -> None:
        self._set_now(self.model.now + by)

    @rule(act=st.sampled_from(CHORES))
    def chore(self, act: str) -> None:
        """Let time pass, or do a chore of the engine."""
        with self.step() as main:
            getattr(self, "_" + act)(main)

    def _lapse(self, main: Session) -> None:
        """The first lease lapses."""
        if until := [main.model.jobs[job_id].lease_until for job_id in self.jobs("running")]:
            first = min(t for t in until if t) + timedelta(milliseconds=1)
            self._set_now(max(main.model.now, first))
        reclaim(main)

    def _promote_due(self, main: Session) -> None:
        """The first of what is scheduled becomes due."""
        if due := [main.model.jobs[job_id].run_at for job_id in self.jobs("scheduled")]:
            first = min(t for t in due if t) + timedelta(milliseconds=1)
            self._set_now(max(main.model.now, first))
        got, wanted = main.one("select _qwf.promote_due()"), main.model.promote_due()
        require(got == wanted, "promote_due answers", got, wanted)

    def _drain_outbox(self, main: Session) -> None:
        got, wanted = main.one("select qwf.drain_outbox()"), main.model.drain_outbox()
        require(got == wanted, "drain_outbox answers", got, wanted)

    def _read(self, main: Session) -> None:
        reading.compare(main.rows, main.model)

    def _tick(self, main: Session) -> None:
        tick(main)

    def _prune(self, main: Session) -> None:
        self._set_now(main.model.now + timedelta(days=16))
        got = main.one("select qwf.prune()")
        wanted = main.model.prune()
        require((got["runs"], got["jobs"]) == wanted, "prune answers", got, wanted)

    # somebody's open transaction

    @precondition(lambda self: not self.opened)
    @rule(act=st.sampled_from(HOLDING), number=numbers, outcome=outcomes)
    def hold(self, act: str, number: int, outcome: str) -> None:
        """Somebody does something, and does not commit for a while."""
        with self.step():
            busy = [self.model.jobs[job_id].run for job_id in self.jobs("running")]
            runs = [run for run in busy if run] or list(self.model.runs)
            asked = self.free_jobs("awaiting_input")
            live = self.free_runs(*LIVE_RUN)
            if act == "lock" and runs:
                self._open(lambda other: lock_run(other, pick(runs, number)))
            elif act == "answer" and asked:
                job_id = pick(asked, number)
                value = "yes" if self.model.jobs[job_id].node.question else "retry"
                self._open(lambda other: answer_job(other, job_id, value))
            elif act == "cancel" and live:
                self._open(lambda other: cancel_run(other, pick(live, number)))
            elif act == "claim" and self.jobs("queued") and not self._limited():
                self._open(lambda other: claim(other, "w1", 1 + number % 3))
            elif act == "finish" and self.jobs("running"):
                report = self._report(pick(self.jobs("running"), number), outcome, {"y": 1})
                self._open(lambda other: finish(other, [report]))

    def _contended(self) -> bool:
        """Return True if something other than order decides who gets which job."""
        return self._limited() or bool(set(self.jobs("queued")) & self.model.locked_jobs)

    def _limited(self) -> bool:
        """Then a claim may lock more than it takes."""
        limits = any(self.model.jobs[job_id].node.limit for job_id in self.jobs("queued"))
        return limits or self.model.room is not None

    def _open(self, act: Callable[[Session], Any]) -> None:
        before = self.model.fork()
        self.other.model = before.fork()
        self.other.rows("begin")
        act(self.other)
        if self.other.conn.info.transaction_status == psycopg.pq.TransactionStatus.INERROR:
            self.other.rows("rollback")  # it was refused
            self._set_now(self.model.now)
            return
        self.other.compare()
        self.model.lock(before, self.other.model)
        self.opened = before

    @precondition(lambda self: self.opened)
    @rule(commits=st.sampled_from([True, True, False]))
    def let_go(self, commits: bool) -> None:
        with self.step():
            self._let_go(commits)

    def _let_go(self, commits: bool) -> None:
        assert self.opened is not None
        if commits:
            self.other.rows("commit")
            self.model.absorb(self.opened, self.other.model)
        else:
            self.other.rows("rollback")  # which takes back the setting of its clock, too
            self.model.unlock()
        self.opened = None
        self._set_now(self.model.now)

    # the end

    def teardown(self) -> None:
        if self.fine:
            self._everything_ends()

    def _everything_ends(self) -> None:
        if self.opened:
            with self.step():
                self._let_go(True)
        main = self.main
        pause(main, "cpu", False)
        drop_limit(main, "queue:cpu")
        place(main, False)
        able = register_worker(main, "another", {"labels": FAST})
        for _ in range(60):
            self.model.turn += 1
            tick(main)
            live = any(job.status not in OVER for job in self.model.jobs.values())
            if not live and not any(run.live for run in self.model.runs.values()):
                main.compare()
                return
            for job_id in self.jobs("running"):
                finish(main, [self._report(job_id, "completed", {"y": 1, "z": 1})])
            claimed = claim(main, able, 100) + claim(main, able, 100, queue="gpu")
            if claimed:
                finish(
                    main,
                    [self._report(job_id, "completed", {"y": 1, "z": 1}) for job_id in claimed],
                )
            elif asked := self.jobs("awaiting_input"):
                question = self.model.jobs[asked[0]].node.question
                answer_job(main, asked[0], "yes" if question else "skip")
            elif self.jobs("scheduled"):
                main.compare()  # which learns when what a tick has sent back is tried again
                self._promote_due(main)
            else:  # limits with a rate have to let others start
                self._set_now(self.model.now + max(per for _, per in RATES.values()))
        main.compare()
        raise Diverged(f"it does not end: {self.model}")


class Crashes(Machine):
    """Sequences in which tasks kill the process in which they run."""

    @precondition(lambda self: self.jobs("queued") and not self.opened)
    @rule(host=st.sampled_from(HOSTS), info=numbers, count=st.sampled_from([1, 1, 2]))
    def crash(self, host: str, info: int, count: int) -> None:
        """A job that a box has claimed kills its process."""
        with self.step() as main:
            worker = self._registered(host, pick(INFO, info)) if info % 4 else WORKERS[0]
            self._die(main, claim(main, worker, count))

    @precondition(lambda self: self.held() and not self.opened)
    @rule(some=st.lists(numbers, min_size=1, max_size=3))
    def die(self, some: list[int]) -> None:
        """A running job kills its process."""
        with self.step() as main:
            held = self.held()
            self._die(main, list(dict.fromkeys(pick(held, n) for n in some)))

    def _die(self, main: Session, jobs: list[int]) -> None:
        told = [self._report(job_id, "lost", None) for job_id in jobs]
        finish(main, [replace(report, reason="crashed") for report in told])

    @precondition(lambda self: len(self.model.jobs) < MAX_JOBS + 6 and not self._contended())
    @rule(task=st.sampled_from(["t", "u"]))
    def hold_back(self, task: str) -> None:
        """Jobs of a task come, and kill their process on two boxes."""
        with self.step() as main:
            for _ in range(2):
                enqueue(main, Node(task, ()), 50)
            main.model.turn += 1
            for host in HOSTS:
                worker = self._registered(host, {})
                self._die(main, claim(main, worker, 1))
                main.model.turn += 1
            claim(main, worker, 1)

    @rule(task=st.sampled_from(["t", "u", "e", "none"]))
    def resume_task(self, task: str) -> None:
        with self.step() as main:
            resume_task(main, task)

    @precondition(lambda self: self.model.crashed)
    @rule(ticks=st.sampled_from([0, 1, 1, 2]))
    def wait_out(self, ticks: int) -> None:
        """The first hold is over."""
        with self.step() as main:
            until = [one.until for one in main.model.crashed.values() if one.until]
            self._set_now(max(min(until, default=main.model.now), main.model.now))
            for _ in range(ticks):
                main.model.turn += 1
                tick(main)

    def _everything_ends(self) -> None:
        """A person lets every task go on; nothing crashes any more."""
        for queue, task in self.model.crashed:
            with self.step() as main:
                resume_task(main, task, queue)
        super()._everything_ends()


# What both sessions do: call the function, tell the model, compare the answers.


def enqueue_run(
    s: Session,
    workflow: str,
    skip: bool,
    priority: int = 100,
    key: str | None = None,
    once: bool = False,
    wait: timedelta | None = None,
    line: Node | None = None,
) -> None:
    context = {"skip": True} if skip else {}
    run_at = None if wait is None else s.model.now + wait
    got = s.one(
        "select qwf.enqueue_run(%s, context => %s, priority => %s, key => %s, once => %s,"
        " run_at => %s, limit_by => %s, max_attempts => %s, backoff => %s)",
        workflow,
        Jsonb(context),
        priority,
        key,
        once,
        run_at,
        line and line.limit,
        line and line.max_attempts,
        line and Jsonb(line.backoff),
    )
    query = "select node_id, id from qwf.jobs where run_id = %s and parent_id is null order by id"
    jobs, place = {}, 0
    if line is not None:
        place = s.one("select parent_id from qwf.runs where id = %s", got)
    elif not isinstance(got, Refused):
        jobs = dict(s.rows(query, got))
    wanted = s.model.enqueue_run(
        workflow, context, priority, key, once, run_at, got, jobs, line, place
    )
    require(got == wanted, "enqueue_run answers", got, wanted)


def enqueue(
    s: Session,
    node: Node,
    priority: int = 100,
    key: str | None = None,
    once: bool = False,
    run_at: datetime | None = None,
    expires: timedelta | None = None,
) -> None:
    got = s.one(
        "select qwf.enqueue(%s, queue => 'cpu', key => %s, once => %s, run_at => %s,"
        " max_attempts => %s, backoff => %s, priority => %s, limit_by => %s, on_failure => %s,"
        " expires => %s, model => %s, vram_mb => %s, requires => %s, at_most_once => %s)",
        *(node.name, key, once, run_at, node.max_attempts, node.backoff and Jsonb(node.backoff)),
        *(priority, node.limit, node.on_failure, expires, node.model, node.vram),
        Jsonb(node.requires),
        node.at_most_once,
    )
    wanted = s.model.enqueue(node, key, once, run_at, priority, expires, got)
    require(got == wanted, "enqueue answers", got, wanted)


def edit(s: Session, node: Node, text: Json, debounce: timedelta | None) -> None:
    item = {"task": node.name, "queue": "cpu", "key": node.name, "key_mode": "replace",
            "args": text, "max_attempts": node.max_attempts}  # fmt: skip
    if debounce is not None:
        item["debounce"] = f"{debounce.total_seconds()} s"
    (got,) = s.rows("select * from qwf.enqueue_many(%s)", Jsonb([item]))
    wanted = s.model.edit(node, text, debounce, got[0])
    require(got == wanted, "an edit answers", got, wanted)


def claim(
    s: Session, worker: str, count: int, lease: timedelta | None = None, queue: str = "cpu"
) -> list[int]:
    """The jobs that were handed out."""
    s.name_made()
    query = "select job_id, token::text, attempt, inputs from qwf.claim(%s, %s, %s, %s)"
    got = s.rows(query, queue, worker, count, lease)
    return _handed_out(s, got, worker, count, lease, queue)


def _handed_out(
    s: Session, got: list[Any], worker: str, count: int, lease: timedelta | None, queue: str
) -> list[int]:
    """Compares what a claim returned with the model."""
    claims = dict(s.rows("select id, attempt from qwf.jobs where attempt > 0"))
    require(claims.keys() <= s.model.jobs.keys(), "jobs there are", claims, s.model.jobs.keys())
    picked = {job_id for job_id, n in claims.items() if n != s.model.jobs[job_id].attempt}
    tokens = {job_id: token for job_id, token, *_ in got}
    wanted = s.model.claim(queue, worker, count, lease, picked, tokens)
    handed = [(job_id, attempt, inputs) for job_id, _, attempt, inputs in got]
    require(handed == wanted, "claim answers", handed, wanted)
    return [job_id for job_id, *_ in got]


def finish(s: Session, reports: list[Report], jam: bool = False) -> None:
    """Reports; with `jam`, opening a node fails meanwhile."""
    query = "select job_id, verdict, pending from qwf.finish_many(%s)"
    _ended(s, _report(s, jam, query, reports), reports, jam)


def finish_and_claim(
    s: Session, reports: list[Report], worker: str, count: int, jam: bool
) -> list[int]:
    """Reports and claims in one call; returns the jobs that were handed out."""
    s.name_made()
    query = (
        "select job_id, verdict, pending, token::text, attempt, inputs"
        " from qwf.finish_and_claim(%s, 'cpu', %s, %s)"
    )
    rows = _report(s, jam, query, reports, worker, count)
    _ended(s, [row[:3] for row in rows[: len(reports)]], reports, jam)
    s.name_made()  # the reports may have made some
    jobs = [(job_id, *more) for job_id, _, _, *more in rows[len(reports) :]]
    return _handed_out(s, jobs, worker, count, None, "cpu")


def _report(s: Session, jam: bool, query: str, reports: list[Report], *more: Any) -> list[Any]:
    """Makes a call whose first argument is these reports."""
    said = [
        {
            "job_id": r.job,
            "token": r.token,
            "outcome": r.outcome,
            "output": r.output,
            "error": r.error,
            "detail": {"reason": r.reason} if r.reason else None,
        }
        for r in reports
    ]
    if jam:
        s.rows("select set_config('qwf_test.jam', 'on', false)")
    got = s.rows(query, json.dumps(said), *more)
    if jam:
        s.rows("select set_config('qwf_test.jam', '', false)")
    return got


def _ended(s: Session, got: list[Any], reports: list[Report], jam: bool) -> None:
    """Compares verdicts with the model."""
    s.model.jammed = jam
    wanted = s.model.finish_many(reports)
    s.model.jammed = False
    require(got == wanted, "finish_many answers", got, wanted)


def lock_run(s: Session, run_id: int) -> None:
    s.rows("select from qwf.runs where id = %s for no key update", run_id)
    s.model.touched.add(run_id)


def submit_input(s: Session, job_id: int, value: Json) -> None:
    job = s.model.jobs[job_id]
    query = "select qwf.submit_input(%s, %s, %s)"
    got = s.one(query, job.run, job.node.name, Jsonb(value))
    assert job.run is not None
    wanted = s.model.submit_input(job.run, job.node.name, value)
    got = got if isinstance(got, Refused) else None
    require(got == wanted, "submit_input answers", got, wanted)


def signal(s: Session, name: str, value: Json) -> None:
    got = s.one("select qwf.signal(%s, %s, keep_for => '366 days')", name, Jsonb(value))
    wanted = s.model.signal(name, value)
    require(got == wanted, "signal answers", got, wanted)


def answer_job(s: Session, job_id: int, value: Json) -> None:
    got = s.one("select qwf.answer_job(%s, %s)", job_id, Jsonb(value))
    wanted = s.model.answer_job(job_id, value)
    got = got if isinstance(got, Refused) else None
    require(got == wanted, "answer_job answers", got, wanted)


def cancel_run(s: Session, run_id: int) -> None:
    got, wanted = s.one("select qwf.cancel_run(%s)", run_id), s.model.cancel_run(run_id)
    require(got == wanted, "cancel_run answers", got, wanted)


def cancel_job(s: Session, job_id: int) -> None:
    got, wanted = s.one("select qwf.cancel_job(%s)", job_id), s.model.cancel_job(job_id)
    require(got == wanted, "cancel_job answers", got, wanted)


def some(jobs: list[int], number: int, which: int) -> list[int]:
    """At most three of the jobs, the first of them twice, and one that does not exist."""
    found = [pick(jobs, number + which * step) for step in range(3)] if jobs else []
    return [*found[::-1], *found[:1], 1 << 40]


def retry_run(s: Session, run_id: int, name: str | None, completed: str | None = None) -> None:
    got = s.one("select qwf.retry_run(%s, %s, completed => %s)", run_id, name, completed)
    wanted = s.model.retry_run(run_id, name, completed)
    require(got == wanted, "retry_run answers", got, wanted)


def change_jobs(s: Session, verb: str, listed: list[int]) -> None:
    query = f"select job_id, coalesce(code, verdict) from qwf.{verb}_jobs(%s)"
    got = dict(s.rows(query, listed))
    wanted = getattr(s.model, f"{verb}_jobs")(listed)
    require(got == wanted, f"{verb}_jobs answers", got, wanted)


def pause(s: Session, queue: str, paused: bool) -> None:
    function = "pause_queue" if paused else "resume_queue"
    got = s.one(f"select qwf.{function}(%s)::text", queue) or None
    wanted = s.model.pause(queue, paused)
    require(got == wanted, f"{function} answers", got, wanted)


def resume_task(s: Session, task: str, queue: str = "cpu") -> None:
    got = s.one("select qwf.resume_queue(%s, %s)::text", queue, task) or None
    wanted = s.model.resume_task(queue, task)
    require(got == wanted, "resume_queue answers", got, wanted)


def register_worker(s: Session, host: str, info: Json) -> str:
    """The id of the worker."""
    name = str(s.one("select qwf.register_worker(%s, 'cpu', %s)", host, Jsonb(info)))
    require(name not in s.model.workers, "the id of a worker is new", name)
    s.model.workers[name] = worker_saying(host, s.model.now, info)
    if s.model.crashed:
        s.model.free_tasks("cpu", info.get("tasks", []))
        s.model.spread_holds("cpu")
    return name


def worker_saying(host: str, now: datetime, info: Json) -> Worker:
    return Worker(
        host,
        now,
        info.get("tasks"),
        info.get("models"),
        info.get("vram_mb"),
        info.get("labels", {}),
        info.get("rank", 0) < 0,
        info.get("current_model"),
        slots=info.get("slots", 1),
        writes_begun=info.get("writes_begun", False),
    )


def place(s: Session, packed: bool) -> None:
    s.rows("select qwf.create_queue('cpu', placement => %s)", "pack" if packed else "spread")
    s.model.packed = packed


def sleep(s: Session, worker: str) -> None:
    s.rows("select qwf.sleep(%s, 'cpu')", worker)
    s.model.asleep[worker] = s.model.now


def limit_queue(s: Session, count: int) -> None:
    s.rows("select qwf.create_queue('cpu', max_running => %s)", count)
    s.model.room = count


def drop_limit(s: Session, name: str) -> None:
    got = s.one("select qwf.drop_limit(%s)::text", name) or None
    wanted = s.model.drop_limit(name)
    require(got == wanted, "drop_limit answers", got, wanted)


def reclaim(s: Session) -> None:
    # told apart from what a worker says: nobody repeats the words of reclaim
    got = sorted(job_id for (job_id,) in s.rows("select _qwf.reclaim()"))
    wanted = s.model.reclaim()
    require(got == wanted, "reclaim answers", got, wanted)


def tick(s: Session) -> None:
    done = s.one("select qwf.tick()")
    chosen = s.rows(TRIALS) if s.model.crashed else []
    require(done["ran"] and "errors" not in done, "a tick runs", done)
    model = s.model
    wanted = {"reclaimed": len(model.reclaim())}
    model.turn += 1
    wanted["promoted"] = model.promote_due()
    model.turn += 1
    model.serve_runs()
    model.try_held_tasks(
        {
            (queue, task): None if trial[0] is None else (trial[0], trial[1])
            for queue, task, *trial in chosen
        }
    )
    wanted["cancelled"] = model.settle_requests()
    model.turn += 1
    wanted["expired"] = model.expire_jobs() + model.expire_inputs()
    model.turn += 1
    wanted["overdue"] = model.fail_overdue_runs()
    model.turn += 1
    wanted["drained"] = model.drain_outbox()
    model.prune()
    done = {part: done[part] for part in wanted}
    left = [job for job in model.jobs.values() if job.request_left]
    require(0 <= done["cancelled"] - wanted["cancelled"] <= len(left), "requests", done, wanted)
    if done["cancelled"] - wanted["cancelled"] == len(left):
        for job in left:
            job.request_left = False
    done["cancelled"] = wanted["cancelled"]
    require(done == wanted, "tick answers", done, wanted)


def machine_on(
    dsn: str, workflow: str | None = None, kind: type[Machine] = Machine
) -> type[Machine]:
    """The machine for a database that is prepared; with a workflow, all runs are of that."""
    return machine_of((Session(dsn), Session(dsn)), workflow, kind)


def machine_of(
    sessions: tuple[Session, Session], workflow: str | None = None, kind: type[Machine] = Machine
) -> type[Machine]:
    """The machine for two sessions on such a database."""

    class On(kind):  # type: ignore[misc, valid-type]
        main, other = sessions
        workflows = (workflow,) if workflow else Machine.workflows
        steps = 0

    On.__name__ = "Machine"
    On.__qualname__ = "Machine"
    return On
