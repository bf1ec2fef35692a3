"""The jobs of a test, run in its own process: they begin and end as those of an agent do."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from qwf_agent import App, Checkpoint, Job, PermanentError, TemporaryError, config
from qwf_agent.testing import Clock, FakeModel, Idle, databases

Db = psycopg.Connection[Any]
Run = Callable[..., Idle]
app = App()


@app.task(max_attempts=3, backoff=[60, 120])
def flaky(job: Job, works_at: int) -> dict[str, int]:
    if job.attempt < works_at:
        raise TemporaryError("the network is down")
    return {"attempt": job.attempt}


@app.task(max_attempts=2, backoff=[60])
def saving(checkpoint: Checkpoint) -> dict[str, Any]:
    if not checkpoint.value:
        checkpoint.save({"epoch": 7})
        raise TemporaryError("the power fails")
    return checkpoint.value


@app.task()
def greet(who: str, out: Path) -> dict[str, Any]:
    (out / "hello.txt").write_text(f"hello {who}")
    return {"text": f"hello {who}", "file": out / "hello.txt"}


@app.task()
def fail() -> None:
    raise PermanentError("no such person")


@app.task()
def again() -> None:
    with psycopg.connect(config.find_dsn()) as conn:  # the variable QWF_DSN
        again.enqueue(conn)


@app.task()
async def outlive_lease(job: Job) -> dict[str, int]:
    if job.attempt == 1:
        with psycopg.connect(config.find_dsn()) as conn:
            conn.execute("update qwf.jobs set lease_expires_at = qwf.now() - interval '1 s'")
            conn.execute("select qwf.tick()")
    return {"attempt": job.attempt}


@app.task()
def halfway(status_callback: Callable[..., None], fails: bool) -> None:
    status_callback(0.1, "begun")
    status_callback(0.5, "half done")
    if fails:
        raise PermanentError("the rest is missing")


@app.task()
def leave() -> None:
    sys.exit(0)


@app.task()
def skip() -> None:
    pytest.skip("not today")


@app.task()
def change_process() -> None:
    os.chdir("/")
    os.environ.pop("QWF_DSN")
    os.environ.update(QWF_TEST_SET_BY_A_BODY="1", HOME="/nowhere")
    raise PermanentError("after that")


@app.task()
def open_queue() -> None:
    with psycopg.connect(config.find_dsn()) as conn:
        conn.execute("select qwf.create_queue('new')")
        greet.options(queue="new").enqueue(conn, who="Ada")


@app.task()
def measure(model: Any) -> dict[str, Any]:
    return {"model": model}


@app.task(queue="llm", model="qwen3-8b")
def summarise(text: str, llm: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
    return dict(llm.chat(f"Summarise: {text}", schema=schema).json)


@app.task(queue="llm", model="bge")
def embed(texts: list[str], llm: Any) -> dict[str, Any]:
    return {"vectors": llm.embed(texts)}


@app.model()
def depth() -> str:
    return "the real one"


def test_a_job_runs_and_its_result_can_be_read(qwf_db: Db, run_until_idle: Run) -> None:
    job = greet.enqueue(qwf_db, who="Ada")
    idle = run_until_idle(app)
    assert idle.left == []
    (ran,) = idle.ran
    assert (ran.job_id, ran.task, ran.attempt, ran.outcome) == (job, "greet", 1, "completed")
    assert Path(ran.output["file"]).read_text() == "hello Ada"
    stored = qwf_db.execute("select status::text, output from qwf.jobs").fetchone()
    assert stored == ("completed", ran.output)
    assert qwf_db.execute("select rel_path from qwf.run_files").fetchone() == ("hello.txt",)
    workers = qwf_db.execute("select from qwf.workers where stopped_at is null")
    assert workers.fetchall() == []
    assert qwf_db.execute("select * from qwf.check_invariants()").fetchall() == []


def test_it_says_what_is_left_and_why(qwf_db: Db, run_until_idle: Run) -> None:
    qwf_db.execute("select qwf.enqueue('sned_email')")
    greet.options(requires={"disk": "ssd"}).enqueue(qwf_db, who="Ada")
    flaky.enqueue(qwf_db, works_at=2)
    idle = run_until_idle(app)
    assert [ran.outcome for ran in idle.ran] == ["tempfail"]
    assert isinstance(idle.ran[0].error, TemporaryError)
    assert [(left.task, left.status) for left in idle.left] == [
        ("sned_email", "queued"),
        ("greet", "queued"),
        ("flaky", "scheduled"),
    ]
    for left, words in zip(idle.left, ("sned_email", "disk", "the network is down"), strict=True):
        assert words in " ".join(left.why)
    assert len(run_until_idle(app, labels={"disk": "ssd"}).ran) == 1


def test_retries_come_when_their_time_comes(
    qwf_db: Db, qwf_clock: Clock, run_until_idle: Run
) -> None:
    flaky.enqueue(qwf_db, works_at=3)
    run_until_idle(app)
    qwf_clock.advance(timedelta(seconds=53))  # a wait varies by a tenth
    assert run_until_idle(app).ran == []
    qwf_clock.advance(timedelta(seconds=13))
    assert [ran.attempt for ran in run_until_idle(app).ran] == [2]
    qwf_clock.advance_until_due()
    assert [ran.output for ran in run_until_idle(app).ran] == [{"attempt": 3}]
    with pytest.raises(LookupError, match="nothing is due"):
        qwf_clock.advance_until_due()


def test_a_checkpoint_is_kept_for_the_next_attempt(
    qwf_db: Db, qwf_clock: Clock, run_until_idle: Run
) -> None:
    """As with an agent."""
    saving.enqueue(qwf_db)
    assert [ran.outcome for ran in run_until_idle(app).ran] == ["tempfail"]
    qwf_clock.advance_until_due()
    assert [ran.output for ran in run_until_idle(app).ran] == [{"epoch": 7}]


def test_arguments_are_checked_as_by_an_agent(qwf_db: Db, run_until_idle: Run) -> None:
    qwf_db.execute("""select qwf.enqueue('greet', '{"whom": "Ada"}')""")
    (ran,) = run_until_idle(app).ran
    assert ran.outcome == "fatal"
    assert "did you mean 'who'?" in str(ran.error)


def test_what_a_body_enqueues_runs_too_but_not_for_ever(qwf_db: Db, run_until_idle: Run) -> None:
    again.enqueue(qwf_db)
    with pytest.raises(RuntimeError, match="10 jobs have run, and 'again' still waits"):
        run_until_idle(app, most=10)
    assert qwf_db.execute(
        "select count(*) from qwf.jobs where status = 'completed'"
    ).fetchone() == (10,)


def test_a_late_report_changes_nothing(qwf_db: Db, run_until_idle: Run) -> None:
    outlive_lease.enqueue(qwf_db)
    ran = run_until_idle(app).ran
    assert [(one.attempt, one.outcome, one.verdict) for one in ran] == [
        (1, "completed", "lost"),
        (2, "completed", "ok"),
    ]
    assert qwf_db.execute("select output from qwf.jobs").fetchone() == ({"attempt": 2},)


def test_a_workflow_runs_to_its_question_and_on(qwf_db: Db, run_until_idle: Run) -> None:
    nodes = [{"id": "hello", "node": "greet", "inputs": {"who": {"$from": "pipeline.who"}}}]
    steps = [
        {"id": "greet", "kind": "pipeline", "pipeline": "p", "inputs": {"who": {"$from": "who"}}},
        {"id": "ok", "kind": "input", "widget": "confirm", "prompt": "Send it?", "target": "yes",
         "depends_on": ["greet"]},
    ]  # fmt: skip
    pipeline, workflow = {"name": "p", "nodes": nodes}, {"name": "w", "steps": steps}
    qwf_db.execute("select qwf.register_pipeline(%s)", [Jsonb(pipeline)])
    qwf_db.execute("select qwf.register_workflow(%s)", [Jsonb(workflow)])
    run = qwf_db.execute("""select qwf.enqueue_run('w', '{"who": "Ada"}')""").fetchone()
    idle = run_until_idle(app)
    assert [ran.node_id for ran in idle.ran] == ["greet/hello"]
    assert [(left.status, left.why) for left in idle.left] == [
        ("awaiting_input", ["it waits for a person to answer: Send it?"])
    ]
    qwf_db.execute("select qwf.submit_input(%s, 'ok', 'true')", run)
    assert run_until_idle(app).left == []
    assert qwf_db.execute("select status::text from qwf.runs").fetchone() == ("completed",)


def test_a_schedule_fires_when_the_clock_says_so(
    qwf_db: Db, qwf_clock: Clock, run_until_idle: Run
) -> None:
    qwf_db.execute(
        "select qwf.create_schedule('daily', task => 'greet', every => '1 day',"
        """ args => '{"who": "Ada"}', anchor => qwf.now())"""
    )
    first = len(run_until_idle(app).ran)
    for _ in range(2):
        qwf_clock.advance(timedelta(days=1))
        assert len(run_until_idle(app).ran) == 1
    assert first <= 1


def test_a_schedule_does_not_fire_by_the_clock_on_the_wall(
    qwf_db: Db, qwf_dsn: str, run_until_idle: Run
) -> None:
    """Nor once the clock stands still; but if the test asks, or lets time pass."""
    mine = """select qwf.create_schedule('n', task => 'greet', every => '1 day',
        args => '{"who": "Ada"}')"""
    due = "update qwf.schedules set next_at = qwf.now()"
    qwf_db.execute(mine)
    qwf_db.execute(due)
    assert run_until_idle(app).ran == []
    clock = Clock(qwf_dsn)
    assert run_until_idle(app).ran == []
    clock.advance(1)
    assert run_until_idle(app, schedules=False).ran == []
    assert len(run_until_idle(app).ran) == 1
    qwf_db.execute(due)
    Clock(qwf_dsn)  # another one of the same database: time has passed in it
    assert len(run_until_idle(app).ran) == 1


def test_a_schedule_fires_by_the_clock_on_the_wall_if_the_test_asks(
    qwf_db: Db, run_until_idle: Run
) -> None:
    qwf_db.execute(
        "select qwf.create_schedule('n', task => 'greet', every => '1 day',"
        """ args => '{"who": "Ada"}')"""
    )
    qwf_db.execute("update qwf.schedules set next_at = qwf.now()")
    assert len(run_until_idle(app, schedules=True).ran) == 1


def test_schedules_of_a_copy_begin_when_it_is_made(qwf_server: str, qwf_template: str) -> None:
    with databases.new_database(qwf_server, qwf_template) as template:
        with psycopg.connect(template, autocommit=True) as conn:
            conn.execute("select qwf.create_schedule('n', task => 't', every => '1 hour')")
            conn.execute("update qwf.schedules set next_at = '2020-01-01'")
        with databases.new_database(qwf_server, template) as dsn, psycopg.connect(dsn) as conn:
            found = conn.execute("select next_at - qwf.now() from qwf.schedules").fetchone()
    assert found is not None
    assert timedelta(0) < found[0] <= timedelta(hours=1)


def test_a_model_of_the_app_is_loaded_unless_the_test_gives_one(
    qwf_db: Db, run_until_idle: Run
) -> None:
    job = measure.options(model="depth")
    job.enqueue(qwf_db)
    assert run_until_idle(app).ran[0].output == {"model": "the real one"}
    job.enqueue(qwf_db)
    given = run_until_idle(app, models={"depth": "another"})
    assert given.ran[0].output == {"model": "another"}


def test_a_served_model_answers_what_the_test_says(qwf_db: Db, run_until_idle: Run) -> None:
    summarise.enqueue(qwf_db, text="a long story")
    assert "qwen3-8b" in " ".join(run_until_idle(app, models={"bge": FakeModel("")}).left[0].why)
    model = FakeModel("no JSON", {"title": "A story"})  # the second answer repairs the first
    (ran,) = run_until_idle(app, models={"qwen3-8b": model}).ran
    assert ran.output == {"title": "A story"}
    first, second = model.requests
    assert first["messages"][0]["content"] == "Summarise: a long story"
    assert "This does not fit the schema" in second["messages"][-1]["content"]
    embed.enqueue(qwf_db, texts=["a", "b"])
    vectors = FakeModel(lambda request: [[float(len(request["input"]))]] * 2)
    assert run_until_idle(app, models={"bge": vectors}).ran[0].output == {"vectors": [[2.0]] * 2}


def test_the_task_llm_is_there_with_a_served_model(qwf_db: Db, run_until_idle: Run) -> None:
    qwf_db.execute(
        "select qwf.enqueue('llm', '{\"prompt\": \"Hi\"}', queue => 'llm', model => 'm')"
    )
    (ran,) = run_until_idle(models={"m": FakeModel("Hello")}).ran
    assert (ran.output["text"], ran.output["usage"]) == ("Hello", {})


def test_a_fake_model_without_an_answer_says_that_it_is_one(
    qwf_db: Db, run_until_idle: Run
) -> None:
    summarise.enqueue(qwf_db, text="a")
    (ran,) = run_until_idle(app, models={"qwen3-8b": FakeModel("x", "y", {})}).ran
    assert "the answer does not fit the schema" in str(ran.error)
    summarise.enqueue(qwf_db, text="a")

    def refuse(request: dict[str, Any]) -> str:
        raise KeyError(request["model"])

    (ran,) = run_until_idle(app, models={"qwen3-8b": FakeModel(refuse)}).ran
    assert ran.outcome == "fatal"
    assert "the server fake answered 400: the fake model has no answer to this" in str(ran.error)
    with pytest.raises(ValueError, match="needs an answer"):
        FakeModel()


def test_a_body_that_exits_well_has_completed(qwf_db: Db, run_until_idle: Run) -> None:
    leave.enqueue(qwf_db)
    (ran,) = run_until_idle(app).ran
    assert (ran.outcome, ran.error) == ("completed", None)


def test_a_body_that_ends_the_test_gives_its_job_back(qwf_db: Db, run_until_idle: Run) -> None:
    skip.enqueue(qwf_db)
    with pytest.raises(pytest.skip.Exception, match="not today"):
        run_until_idle(app)
    assert qwf_db.execute("select status::text from qwf.jobs").fetchone() == ("queued",)


def test_what_a_body_changes_in_the_process_is_put_back(
    qwf_db: Db, run_until_idle: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = dict(os.environ)
    change_process.enqueue(qwf_db)
    try:
        (ran,) = run_until_idle(app).ran
        assert str(ran.error) == "after that"
        assert Path.cwd() == tmp_path
        assert dict(os.environ) == before
    finally:
        os.environ.pop("QWF_TEST_SET_BY_A_BODY", None)
        os.environ.update(before)


def test_a_queue_that_a_body_creates_is_served(qwf_db: Db, run_until_idle: Run) -> None:
    open_queue.enqueue(qwf_db)
    idle = run_until_idle(app)
    assert [ran.task for ran in idle.ran] == ["open_queue", "greet"]
    assert idle.left == []


@pytest.fixture
def due(qwf_db: Db, qwf_clock: Clock) -> None:
    """A job that needs a tick to start; there was a tick a moment ago."""
    qwf_db.execute("select qwf.tick()")
    greet.options(run_at=qwf_clock.now + timedelta(seconds=1)).enqueue(qwf_db, who="Ada")
    qwf_clock.advance(timedelta(seconds=1))


def test_what_is_due_waits_for_the_tick_of_another_session(
    qwf_db: Db, qwf_dsn: str, due: None, run_until_idle: Run
) -> None:
    trying = (
        "select count(*) from pg_stat_activity where datname = current_database()"
        " and query = 'select qwf.tick(fire => $1) as done' and state = 'idle'"  # it could not run
    )
    with ThreadPoolExecutor(1) as threads, psycopg.connect(qwf_dsn) as other:
        other.execute("select qwf.tick()")
        idle = threads.submit(run_until_idle, app)
        while not idle.done() and qwf_db.execute(trying).fetchone() == (0,):
            pass
        other.rollback()
        assert [ran.task for ran in idle.result(60).ran] == ["greet"]


def test_a_tick_of_another_session_that_does_not_end_is_an_error(
    qwf_dsn: str, due: None, run_until_idle: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qwf_agent.testing.run.LOCK_TIMEOUT", 0.2)
    with psycopg.connect(qwf_dsn) as other:
        other.execute("select qwf.tick()")
        with pytest.raises(RuntimeError, match=r"another session has been in qwf.tick\(\)"):
            run_until_idle(app)


def test_a_part_of_the_tick_that_fails_is_an_error(
    qwf_db: Db, due: None, run_until_idle: Run
) -> None:
    qwf_db.execute("create table audited (job bigint check (false))")
    qwf_db.execute(
        "create function audit() returns trigger language plpgsql as"
        " $$ begin insert into public.audited values (new.id); return new; end $$"
    )
    qwf_db.execute(
        "create trigger audit before update on qwf.jobs for each row execute function audit()"
    )
    with pytest.raises(RuntimeError, match=r"qwf.tick\(\) failed: {'promoted': 'new row for"):
        run_until_idle(app)


def test_it_leaves_no_descriptor_open(run_until_idle: Run) -> None:
    run_until_idle(app)
    before = len(list(Path("/dev/fd").iterdir()))
    for _ in range(3):
        run_until_idle(app, models={"m": FakeModel("")})
    assert len(list(Path("/dev/fd").iterdir())) <= before


def test_an_open_transaction_of_the_test_is_not_seen(qwf_dsn: str, run_until_idle: Run) -> None:
    with psycopg.connect(qwf_dsn) as conn:
        greet.enqueue(conn, who="Ada")
        assert run_until_idle(app) == Idle([], [])
    assert len(run_until_idle(app).ran) == 1


def test_the_last_progress_report_of_each_job_arrives(run_until_idle: Run, qwf_db: Db) -> None:
    halfway.enqueue(qwf_db, fails=True)
    fail.enqueue(qwf_db)
    halfway.enqueue(qwf_db, fails=False)
    run_until_idle(app)
    rows = qwf_db.execute("select progress, progress_message from qwf.job_details order by id")
    assert rows.fetchall() == [(0.5, "half done"), (None, None), (0.5, "half done")]
