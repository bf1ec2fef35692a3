"""The documents are correct: programs run, SQL works, generated parts are up to date."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.json import Jsonb

from qwf_agent import embedded, migrate
from support import bouncer as pgbouncer
from support import checked_workers
from support.bouncer import Bouncer
from support.checked_workers import with_body
from support.servers import DEBIAN, ROOT, own_server
from support.tools import tool

DOCS = ROOT / "docs"
CLIENTS = ROOT / "examples" / "clients"
PG = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD"}
PATIENCE_S = 60.0
SECRET = "s3cret"

Environment = dict[str, str]
Starter = Callable[..., "subprocess.Popen[str]"]


# Generated parts ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["clients", "high_availability", "javascript"])
def test_a_document_holds_the_current_examples(name: str) -> None:
    examples = tool("include_examples")
    text = (DOCS / f"{name.replace('_', '-')}.md").read_text(encoding="utf-8")
    assert examples.included(text) == text, "run: make docs"
    shown = {found["path"] for found in examples.INCLUDE.finditer(text)}
    files = {str(p.relative_to(ROOT)) for p in (ROOT / "examples" / name).rglob("*") if p.is_file()}
    assert shown == {f for f in files if not re.search("node_modules|__pycache__|package", f)}


def test_the_api_document_is_up_to_date(dsn: str) -> None:
    written = (DOCS / "reference" / "sql-api.md").read_text(encoding="utf-8")
    assert tool("generate_sql_api").document(dsn) == written, "run: make docs"


@pytest.mark.skipif(not (DEBIAN / "15").is_dir(), reason="Postgres 15 is not installed")
@pytest.mark.skipif("QWF_TEST_DSN" in os.environ, reason="QWF_TEST_DSN names the only server")
def test_the_api_document_is_the_same_from_an_older_server() -> None:
    written = (DOCS / "reference" / "sql-api.md").read_text(encoding="utf-8")
    with own_server(DEBIAN / "15" / "bin") as server:
        dsn = server.dsn(server.maintenance)
        migrate.deploy(dsn, verify=False)
        assert tool("generate_sql_api").document(dsn) == written


def test_a_function_without_a_chapter_in_the_api_document_is_reported() -> None:
    api = tool("generate_sql_api")
    with pytest.raises(api.Undocumented, match="no heading for nowhere"):
        list(api.chapters([SimpleNamespace(name="nowhere")]))


# Links -------------------------------------------------------------------------------------------

DOCUMENTS = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])


def test_the_links_of_a_document_lead_to_files_and_headings() -> None:
    broken = []
    for document in DOCUMENTS:
        for target in re.findall(r"\]\(([^)\s]+)\)", document.read_text(encoding="utf-8")):
            path, _, anchor = target.partition("#")
            if re.match(r"[a-z]+:", path):
                continue
            file = document.parent / path if path else document
            if not file.exists() or (anchor and anchor not in anchors(file.resolve())):
                broken.append((str(document), target))
    assert broken == []


@cache
def anchors(document: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a document."""
    titles = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


# SQL to paste ------------------------------------------------------------------------------------


@pytest.fixture
def environment(dsn: str) -> Environment:
    """The PG* variables of the database, and psql on the PATH."""
    given = {k: str(v) for k, v in conninfo_to_dict(dsn).items()}
    where = {PG[key]: value for key, value in given.items() if key in PG}
    return {
        **os.environ,
        **where,
        "PGDATABASE": given["dbname"],
        "PATH": f"{embedded.binaries()}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "python"),
    }


def as_role(environment: Environment, role: str) -> Environment:
    return {**environment, "PGOPTIONS": f"-c role={role}"}


def psql(environment: Environment, text: str) -> str:
    """The output of psql for a script; an error fails the test."""
    done = subprocess.run(
        ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1"],
        input=text,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def fences(document: Path, language: str) -> list[str]:
    text = document.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_sql_of_the_readme_works_when_pasted_into_psql(
    environment: Environment, db: psycopg.Connection[Any]
) -> None:
    psql(environment, fences(ROOT / "README.md", "sql")[0])
    rows = db.execute("select node_id, status::text from qwf.jobs order by id").fetchall()
    assert rows == [("hello", "completed"), ("shout", "queued"), ("ok", "blocked")]


def test_a_person_can_work_through_a_workflow_in_psql(
    environment: Environment, db: psycopg.Connection[Any]
) -> None:
    define, start, by_hand = fences(DOCS / "clients.md", "sql")[-3:]
    psql(environment, define + start)
    assert psql(environment, by_hand + by_hand).split() == ["ok", "ok"]
    assert db.execute("select status::text from qwf.runs").fetchone() == ("completed",)


def test_a_prompt_and_a_map_of_prompts_can_be_enqueued_from_psql(
    environment: Environment, db: psycopg.Connection[Any]
) -> None:
    """The task that runs them is tested in tests/llm."""
    db.execute("select qwf.create_queue('llm')")
    _, table, _, elements = scripts = fences(DOCS / "models.md", "sql")
    psql(environment, "".join(scripts))
    rows = db.execute(
        "select task, queue, required_model from qwf.jobs where status = 'queued'"
    ).fetchall()
    assert rows == [("llm", "llm", "qwen3-8b")] * 5
    output = Jsonb({"text": "both", "json": {"for": "adults"}})
    claimed = db.execute("select job_id, token from qwf.claim('llm', 'w', 9)").fetchall()
    for job, token in claimed[:-1]:
        db.execute("select qwf.finish(%s, %s, 'completed', %s)", (job, token, output))
    read = psql(environment, table + elements).splitlines()
    assert read == ["0|Emil and the Detectives|completed|adults|", "1|The Trial|running||"]
    assert db.execute("select audience from books").fetchall() == [("both",), ("both",)]


# Programs that run -------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def node() -> Path:
    """The packages that the Node programs need."""
    return checked_workers.node_modules()


# A body in Node that does not stop in its first attempt; the second says whether that is over.
ALONE = """
  alone: async (_, { job }) => {
    globalThis.running = (globalThis.running ?? 0) + 1;
    if (job.attempt === 1) await pause(4000);
    const alone = globalThis.running === 1;
    globalThis.running -= 1;
    return { alone };
  },
"""

GO = """
  "slow": func(ctx context.Context, _ *Job) (any, error) {
    select {
    case <-ctx.Done():
      return nil, ctx.Err()
    case <-time.After(600 * time.Second):
      return map[string]any{}, nil
    }
  },
  "stubborn": func(_ context.Context, _ *Job) (any, error) {
    time.Sleep(600 * time.Second)
    return map[string]any{}, nil
  },
"""


@pytest.fixture(scope="session")
def go_worker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Go worker with two more bodies, built once."""
    folder = tmp_path_factory.mktemp("go")
    bodies = folder / "bodies.go"
    with_body(bodies, CLIENTS / "go" / "bodies.go", "var bodies = map[string]Body{\n", GO)
    text = bodies.read_text(encoding="utf-8").replace('"strings"', '"strings"\n"time"')
    bodies.write_text(text, encoding="utf-8")
    return checked_workers.build_go(folder, bodies)


@pytest.fixture
def programs(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[[str], list[str]]:
    """Commands that start a copy of a worker with two more bodies: `slow` ends on request, and
    `stubborn` does not."""

    def command(kind: str) -> list[str]:
        if kind == "bash":
            shutil.copytree(CLIENTS / "psql", tmp_path / "psql")
            slow = tmp_path / "psql" / "bodies" / "slow"
            slow.write_text("#!/bin/sh\nexec sleep 600\n", encoding="utf-8")
            slow.chmod(0o755)
            stubborn = slow.with_name("stubborn")
            stubborn.write_text("#!/bin/sh\ntrap '' TERM\nsleep 600\n", encoding="utf-8")
            stubborn.chmod(0o755)
            return [str(tmp_path / "psql" / "worker.sh"), "cpu", str(slow.parent)]
        if kind == "node":
            (tmp_path / "node_modules").symlink_to(
                request.getfixturevalue("node"), target_is_directory=True
            )
            with_body(
                tmp_path / "worker.mjs",
                CLIENTS / "node" / "worker.mjs",
                "const bodies = {\n",
                "  slow: (_, { signal }) => pause(600_000, {}, { signal }),\n"
                "  stubborn: () => pause(600_000),\n" + ALONE,
            )
            return ["node", str(tmp_path / "worker.mjs"), "cpu"]
        if kind == "go":
            return [str(request.getfixturevalue("go_worker")), "cpu"]
        checked_workers.need_ruby()
        with_body(
            tmp_path / "worker.rb",
            CLIENTS / "ruby" / "worker.rb",
            "BODIES = {\n",
            '  "slow" => ->(_, _) { sleep 600 },\n'
            '  "stubborn" => ->(_, _) { trap("TERM", "IGNORE"); sleep 600 },\n',
        )
        return ["ruby", str(tmp_path / "worker.rb"), "cpu"]

    return command


@pytest.fixture
def start() -> Iterator[Starter]:
    """Starts programs, and stops them after the test."""
    started: list[subprocess.Popen[str]] = []

    def starter(command: list[str], environment: Environment, **how: Any) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            command, env=environment, text=True, start_new_session=True, **how
        )
        started.append(process)
        return process

    yield starter
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def eventually(db: psycopg.Connection[Any], condition: str, process: subprocess.Popen[str]) -> None:
    """Wait until the query returns true; fail if the program ends first."""
    deadline = time.monotonic() + PATIENCE_S
    while db.execute(condition).fetchone() != (True,):
        assert process.poll() is None, f"the program ended with {process.returncode}"
        jobs = "select id, task, status::text, attempt, last_error from qwf.jobs order by id"
        assert time.monotonic() < deadline, f"{condition}: {db.execute(jobs).fetchall()}"
        time.sleep(0.02)


@pytest.fixture
def shim(environment: Environment, dsn: str, start: Starter) -> str:
    """Address of the HTTP shim."""
    process = start(
        [sys.executable, str(CLIENTS / "http" / "shim.py"), "0"],
        {
            **environment,
            "QWF_DSN": make_conninfo(dsn, options="-c role=qwf_producer"),
            "QWF_SHIM_TOKEN": SECRET,
        },
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    return f"http://127.0.0.1:{int(process.stdout.readline().split()[-1])}"


def post(url: str, body: object, secret: str = SECRET) -> tuple[int, dict[str, Any]]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Authorization": f"Bearer {secret}"})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


WORKERS = pytest.mark.parametrize("kind", ["bash", "go", "node", "ruby"])


@WORKERS
def test_a_worker_completes_a_workflow_enqueued_over_http(
    kind: str,
    programs: Callable[[str], list[str]],
    environment: Environment,
    start: Starter,
    shim: str,
    db: psycopg.Connection[Any],
) -> None:
    psql(environment, (CLIENTS / "psql" / "greet.sql").read_text(encoding="utf-8"))
    worker = start(programs(kind), as_role(environment, "qwf_worker"))
    eventually(db, "select exists (select from qwf.workers where 'shout' = any (tasks))", worker)
    if kind != "bash":  # psql cannot wait for a notification, so the bash worker does not sleep
        eventually(db, "select exists (select from qwf.sleepers)", worker)
    status, answer = post(f"{shim}/runs", {"workflow": "greet", "context": {"who": "Ada"}})
    assert status == 201
    run = answer["id"]
    eventually(db, "select status = 'completed' from qwf.runs", worker)
    outputs = db.execute("select node_id, output, attempt from qwf.jobs order by id").fetchall()
    assert outputs == [
        ("hello", {"text": "hello Ada"}, 1),
        ("shout", {"text": "HELLO ADA"}, 1),
    ]
    assert db.execute("select qwf.run_status(%s) -> 'run' ->> 'status'", [run]).fetchone() == (
        "completed",
    )
    worker.terminate()
    assert worker.wait(PATIENCE_S) == 0
    assert db.execute("select bool_and(stopped_at is not null) from qwf.workers").fetchone() == (
        True,
    )
    assert db.execute("select count(*) from qwf.sleepers").fetchone() == (0,)
    assert db.execute("select * from qwf.check_invariants()").fetchall() == []


@WORKERS
def test_a_worker_renews_its_lease_and_stops_a_cancelled_body(
    kind: str,
    programs: Callable[[str], list[str]],
    environment: Environment,
    start: Starter,
    db: psycopg.Connection[Any],
) -> None:
    db.execute("update qwf.settings set lease = '5 s', heartbeat = '200 ms', cancel_grace = '1 s'")
    worker = start(programs(kind), as_role(environment, "qwf_worker"))
    job = psql(environment, "select qwf.enqueue('slow', queue => 'cpu')").strip()
    eventually(db, "select status = 'running' from qwf.jobs", worker)
    eventually(
        db, "select lease_expires_at > claimed_at + interval '5500 ms' from qwf.jobs", worker
    )
    assert psql(environment, f"select qwf.cancel_job({job})").strip() == "requested"
    eventually(db, "select status = 'cancelled' from qwf.jobs", worker)
    done = db.execute("select attempt, outcome from qwf.job_attempts").fetchall()
    assert done == [(1, "cancelled")]


@WORKERS
def test_a_worker_refuses_a_task_that_is_not_its_own(
    kind: str,
    programs: Callable[[str], list[str]],
    environment: Environment,
    start: Starter,
    tmp_path: Path,
    db: psycopg.Connection[Any],
) -> None:
    """Names that would lead out of a folder of bodies, or to what every object inherits."""
    worker = start(programs(kind), as_role(environment, "qwf_worker"))
    eventually(db, "select exists (select from qwf.workers)", worker)
    db.execute("update qwf.workers set tasks = null")
    made = tmp_path / "made"
    args = json.dumps({"x": f"$(touch {made})"})
    for task in ("../" * 20 + "bin/sh", "..", "constructor", "missing"):
        db.execute("select qwf.enqueue(%s, %s, queue => 'cpu', max_attempts => 1)", (task, args))
    eventually(db, "select bool_and(status = 'failed') from qwf.jobs", worker)
    assert not made.exists()
    assert db.execute("select distinct outcome from qwf.job_attempts").fetchall() == [("fatal",)]


@WORKERS
def test_a_worker_stopped_twice_releases_its_job(
    kind: str,
    programs: Callable[[str], list[str]],
    environment: Environment,
    start: Starter,
    db: psycopg.Connection[Any],
) -> None:
    worker = start(programs(kind), as_role(environment, "qwf_worker"))
    psql(environment, "select qwf.enqueue('slow', queue => 'cpu')")
    eventually(db, "select status = 'running' from qwf.jobs", worker)
    deadline = time.monotonic() + PATIENCE_S
    while worker.poll() is None:  # a shell may merge two signals into one
        worker.terminate()
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert worker.returncode == 0
    state = db.execute("select status::text, failures, losses from qwf.jobs").fetchone()
    assert state == ("queued", 0, 0)


@pytest.mark.parametrize("task", ["slow", "stubborn"])
@WORKERS
def test_a_worker_that_is_stopped_gives_its_job_back_within_the_grace(
    kind: str,
    task: str,
    programs: Callable[[str], list[str]],
    environment: Environment,
    start: Starter,
    db: psycopg.Connection[Any],
) -> None:
    """One SIGTERM, as from systemd or Kubernetes, while a body runs that would take ten minutes."""
    db.execute("update qwf.settings set stop_grace = '1 s', cancel_grace = '1 s'")
    worker = start(programs(kind), as_role(environment, "qwf_worker"))
    psql(environment, f"select qwf.enqueue('{task}', queue => 'cpu')")
    eventually(db, "select status = 'running' from qwf.jobs", worker)
    worker.terminate()
    assert worker.wait(PATIENCE_S) == 0
    state = db.execute("select status::text, failures, losses from qwf.jobs").fetchone()
    assert state == ("queued", 0, 0)
    assert db.execute("select outcome from qwf.job_attempts").fetchall() == [("released",)]


# Reports fail while `{when}` is true: the first ones, as behind a pooler, or some for ever.
FAILING_REPORTS = """
create sequence public.tries;
create schema replaced;
alter function qwf.finish_many(jsonb) set schema replaced;
create function qwf.finish_many(reports jsonb) returns setof qwf.report_verdict
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if {when} then
    raise exception using errcode = '{code}', message = 'a planted error';
  end if;
  return query select * from replaced.finish_many(reports);
end $$;
"""


@pytest.mark.parametrize("final", [False, True], ids=["passing", "final"])
@WORKERS
def test_a_worker_keeps_finished_work_unless_it_can_never_be_stored(
    kind: str,
    final: bool,
    programs: Callable[[str], list[str]],
    environment: Environment,
    start: Starter,
    db: psycopg.Connection[Any],
) -> None:
    when = "nextval('public.tries') <= 2"
    if final:
        when = "reports -> 0 ->> 'outcome' = 'completed'"
    db.execute(FAILING_REPORTS.format(when=when, code="22P05" if final else "26000"))
    worker = start(programs(kind), as_role(environment, "qwf_worker"))
    db.execute("select qwf.enqueue('hello', '{\"who\": \"Ada\"}', queue => 'cpu')")
    eventually(db, "select status in ('completed', 'failed') from qwf.jobs", worker)
    ended = db.execute("select status::text, attempt, output, last_error from qwf.jobs").fetchone()
    assert ended is not None
    if final:
        assert (ended[:2], "a planted error" in ended[3]) == (("failed", 1), True)
    else:
        assert ended == ("completed", 1, {"text": "hello Ada"}, None)


def test_a_body_that_cannot_be_killed_keeps_its_slot(
    programs: Callable[[str], list[str]],
    environment: Environment,
    start: Starter,
    db: psycopg.Connection[Any],
) -> None:
    db.execute("update qwf.settings set cancel_grace = '100 ms'")
    worker = start([*programs("node"), "1"], as_role(environment, "qwf_worker"))
    db.execute("select qwf.enqueue('alone', queue => 'cpu', timeout => '1 s')")
    eventually(db, "select status = 'completed' from qwf.jobs", worker)
    ended = db.execute("select attempt, losses, output from qwf.jobs").fetchone()
    assert ended == (2, 1, {"alone": True})


DRIVER = """
import pg from 'pg';
const db = new pg.Client();
await db.connect();
const query = `select 15::bigint as id, '{"id": 15, "n": 9007199254740993}'::jsonb as told,
  qwf.claim('default', 'w') as claimed`;
const { rows: [before] } = await db.query(query);
pg.types.setTypeParser(pg.types.builtins.JSONB, (text) => text);
const { rows: [after] } = await db.query("select '9007199254740993'::jsonb as n");
const { id, told, claimed } = before;
console.log(JSON.stringify([id, told.id, String(told.n), claimed, after.n]));
await db.end();
"""


def test_the_driver_of_node_changes_values_as_the_page_says(
    node: Path, environment: Environment, tmp_path: Path, db: psycopg.Connection[Any]
) -> None:
    db.execute("select qwf.enqueue('t')")
    (tmp_path / "node_modules").symlink_to(node, target_is_directory=True)
    (tmp_path / "driver.mjs").write_text(DRIVER, encoding="utf-8")
    done = subprocess.run(
        ["node", "driver.mjs"], cwd=tmp_path, env=environment, capture_output=True, check=True
    )
    number, inside, rounded, claimed, kept = json.loads(done.stdout)
    assert (number, inside) == ("15", 15)
    assert (rounded, kept) == ("9007199254740992", "9007199254740993")
    assert claimed.startswith("(1,")


LISTENERS = pytest.mark.parametrize("kind", ["go", "node", "ruby"])


def behind(bouncer: Bouncer, environment: Environment) -> Environment:
    given = conninfo_to_dict(bouncer.shared)
    return {**environment, **{PG[key]: str(given[key]) for key in ("host", "port", "user")},
            "PGDATABASE": str(given["dbname"])}  # fmt: skip


@LISTENERS
def test_a_worker_says_once_that_no_notification_passes_a_transaction_pooler(
    kind: str,
    programs: Callable[[str], list[str]],
    environment: Environment,
    start: Starter,
    dsn: str,
    db: psycopg.Connection[Any],
) -> None:
    with pgbouncer.bouncer(dsn) as bouncer:
        worker = start(
            programs(kind), behind(bouncer, environment), stderr=subprocess.PIPE, bufsize=1
        )
        assert worker.stderr is not None
        assert "set QWF_LISTEN_DSN to an address without" in worker.stderr.readline()
        db.execute("select qwf.enqueue('hello', '{\"who\": \"Ada\"}', queue => 'cpu')")
        eventually(db, "select status = 'completed' from qwf.jobs", worker)
        worker.terminate()
        assert worker.wait(PATIENCE_S) == 0


@LISTENERS
def test_a_worker_behind_a_transaction_pooler_listens_at_another_address(
    kind: str,
    programs: Callable[[str], list[str]],
    environment: Environment,
    start: Starter,
    dsn: str,
    db: psycopg.Connection[Any],
) -> None:
    db.execute("update qwf.settings set poll = '1 h'")  # only a notification is in time
    with pgbouncer.bouncer(dsn) as bouncer:
        where = {**behind(bouncer, environment), "QWF_LISTEN_DSN": dsn}
        worker = start(programs(kind), where, stderr=subprocess.PIPE)
        eventually(db, "select exists (select from qwf.sleepers)", worker)
        db.execute("select qwf.enqueue('hello', '{\"who\": \"Ada\"}', queue => 'cpu')")
        eventually(db, "select status = 'completed' from qwf.jobs", worker)
        worker.terminate()
        _, said = worker.communicate(timeout=PATIENCE_S)
    assert (worker.returncode, "QWF_LISTEN_DSN" in said) == (0, False)


@WORKERS
def test_a_worker_that_knows_no_orders_obeys_when_it_is_switched_off_hard(
    kind: str,
    programs: Callable[[str], list[str]],
    environment: Environment,
    start: Starter,
    db: psycopg.Connection[Any],
) -> None:
    db.execute("update qwf.settings set heartbeat = '1 s'")
    worker = start(programs(kind), as_role(environment, "qwf_worker"))
    psql(environment, "select qwf.enqueue('slow', queue => 'cpu')")
    eventually(db, "select exists (select from qwf.jobs where status = 'running')", worker)
    db.execute("select qwf.worker_control(host, queue, 'off') from qwf.workers")
    eventually(db, "select status = 'queued' from qwf.jobs", worker)
    counted = db.execute("select failures, losses from qwf.jobs").fetchone()
    assert counted == (0, 0)
    db.execute("select qwf.cancel_job(id) from qwf.jobs")
    db.execute("select qwf.enqueue('hello', '{\"who\": \"Ada\"}', queue => 'cpu')")
    db.execute("select qwf.worker_control(host, queue, 'on') from qwf.workers")
    eventually(db, "select exists (select from qwf.jobs where status = 'completed')", worker)


ORDERS = """
create table orders (id bigint generated always as identity primary key, email text not null);
grant select, insert on orders to qwf_producer;
"""
PRODUCERS = {
    "psql": ["psql", "-X", "-v", "email=ada@example.org", "-f", str(CLIENTS / "psql/enqueue.sql")],
    "python": [sys.executable, str(CLIENTS / "python/enqueue.py"), "ada@example.org"],
    "node": ["node", "enqueue.mjs", "ada@example.org"],
    "ruby": ["ruby", str(CLIENTS / "ruby/enqueue.rb"), "ada@example.org"],
}


@pytest.mark.parametrize("kind", ["psql", "python", "node", "ruby"])
def test_a_producer_enqueues_in_its_own_transaction(
    kind: str,
    request: pytest.FixtureRequest,
    programs: Callable[[str], list[str]],
    environment: Environment,
    tmp_path: Path,
    db: psycopg.Connection[Any],
) -> None:
    if kind in ("node", "ruby"):
        programs(kind)  # skips where the language is not installed
        shutil.copy(CLIENTS / "node" / "enqueue.mjs", tmp_path)
    db.execute(ORDERS)
    produce = {"env": as_role(environment, "qwf_producer"), "cwd": tmp_path, "capture_output": True}
    counts = "select (select count(*) from orders), (select count(*) from qwf.jobs)"

    failed = subprocess.run(PRODUCERS[kind], **produce)  # there is no workflow yet
    assert b"unknown workflow" in failed.stderr
    assert db.execute(counts).fetchone() == (0, 0)

    psql(environment, (CLIENTS / "psql" / "greet.sql").read_text(encoding="utf-8"))
    done = subprocess.run(PRODUCERS[kind], **produce)
    assert done.returncode == 0, done.stderr.decode()
    assert db.execute(counts).fetchone() == (1, 3)
    assert db.execute("select context from qwf.runs").fetchone() == ({"who": "ada@example.org"},)
    ((order,),) = db.execute("select id from orders").fetchall()
    receipt = "select inputs, key, queue from qwf.jobs where task = 'receipt'"
    same = ({"order": order}, f"order {order}", "cpu")  # a number, from every language
    assert db.execute(receipt).fetchall() == [same]


def test_the_shim_treats_values_as_data_and_explains_errors(
    shim: str, db: psycopg.Connection[Any]
) -> None:
    nasty = "x');drop/**/schema/**/qwf/**/cascade;--"
    status, answer = post(f"{shim}/enqueue", {"task": nasty, "args": {"a": nasty}, "key": nasty})
    assert status == 201, answer
    assert db.execute("select id, task, inputs, key from qwf.jobs").fetchall() == [
        (answer["id"], nasty, {"a": nasty}, nasty)
    ]
    assert post(f"{shim}/enqueue", {"task": nasty, "key": nasty}) == (201, answer)
    for url, body, code in (
        ("/enqueue", {"task": "t", "queue": "nowhere"}, "QW006"),
        ("/runs", {"workflow": "nope"}, "QW001"),
        ("/runs", b"{", "22P02"),
        ("/runs", b"\xff", None),
    ):
        status, answer = post(shim + url, body)
        assert (status, answer["sqlstate"]) == (400, code)
    for url, given in (("/enqueue", {"task": "t", "arg": 1}), ("/runs", {"contxt": {}})):
        status, answer = post(shim + url, given)
        assert (status, list(given)[-1] in answer["error"]) == (400, True)
    assert post(f"{shim}/claim", {})[0] == 404
    assert post(f"{shim}/enqueue", {"task": "t"}, secret="guess")[0] == 401
    assert db.execute("select count(*) from qwf.jobs").fetchone() == (1,)
