"""The first page: what is most urgent in the fleet, and what the menu of every page counts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support import made_jobs, poison
from support.visitors import Visit

if TYPE_CHECKING:
    from typing_extensions import LiteralString

Db = psycopg.Connection[Any]
ASK = {"name": "pick", "steps": [{"id": "choose", "kind": "input", "widget": "confirm",
                                  "prompt": "Send it?", "target": "yes"}]}  # fmt: skip


def one(db: Db, query: LiteralString, *parameters: Any) -> Any:
    """The value that a query returns."""
    (row,) = db.execute(query, parameters).fetchall()
    return row[0]


def fail(db: Db, error: str, worker: str = "w") -> int:
    """A job that fails for good with this error."""
    db.execute("select qwf.enqueue('resize')")
    job, token = db.execute(
        "select job_id, token from qwf.claim('default', %s)", (worker,)
    ).fetchall()[0]
    db.execute("select qwf.finish(%s, %s, 'fatal', null, %s)", (job, token, error))
    return int(job)


def figure(page: str, name: str) -> str:
    """A figure of the row below the heading."""
    found = re.search(rf"<strong>([^<]*)</strong><span>{name}</span>", page)
    assert found is not None, name
    return found[1]


def rows_of(page: str, heading: str) -> dict[str, str]:
    """The rows of a list, by id."""
    rows = page.partition(f"<h2>{heading}</h2>")[2].partition("</ul>")[0].split("<li data-row ")[1:]
    return {re.findall(r'id="([^"]*)"', row)[0]: row for row in rows}


def ask(db: Db) -> int:
    """A run that asks a person."""
    db.execute("select qwf.register_workflow(%s)", (Jsonb(ASK),))
    run: int = one(db, "select qwf.enqueue_run('pick', '{}')")
    return run


def test_an_empty_database_says_what_makes_something_appear(visit: Visit, db: Db) -> None:
    page = visit("viewer").text("/")
    for command in ("qwf demo", "qwf agent --queue", "qwf run"):
        assert f"<code>{command}" in page
    db.execute("select qwf.enqueue('resize')")
    assert "qwf demo" not in visit("viewer").text("/")


def test_it_counts_what_waits_runs_asks_and_failed(visit: Visit, db: Db) -> None:
    fail(db, "no paper")
    run = ask(db)
    db.execute("select qwf.enqueue('resize') from generate_series(1, 4)")
    db.execute("select qwf.enqueue('later', run_at => now() + interval '1 day')")
    db.execute("select qwf.claim('default', 'w')")
    page = visit("viewer").text("/")
    names = ("queued", "running", "scheduled", "question", "failed in the last hour")
    assert [figure(page, name) for name in names] == ["3", "1", "1", "1", "1"]
    assert "Send it?" in page
    assert f"run {run}" in page
    assert "no paper" in page


def test_more_than_ten_thousand_jobs_are_not_counted(visit: Visit, db: Db) -> None:
    jobs = Jsonb([{"task": "t"}] * 5001)
    db.execute("select qwf.enqueue_many(%s)", (jobs,))
    db.execute("select qwf.enqueue_many(%s)", (jobs,))
    page = visit("viewer").text("/")
    assert figure(page, "queued") == "&gt; 10,000"
    assert "&gt; 10,000</td>" in page


def test_a_sum_of_which_a_part_is_not_counted_is_a_round_number(visit: Visit, db: Db) -> None:
    db.execute("select qwf.enqueue_many(%s)", (Jsonb([{"task": "t"}] * 10_001),))
    db.execute("select qwf.create_queue('mail')")
    for _ in range(6):
        db.execute("select qwf.enqueue('t', queue => 'mail')")
    assert figure(visit("viewer").text("/"), "queued") == "&gt; 10,000"


def test_a_page_names_the_zone_of_its_times(visit: Visit) -> None:
    assert "times in UTC" in visit("viewer").text("/")


def test_an_error_with_a_long_word_is_cut_inside_of_it(visit: Visit, db: Db) -> None:
    fail(db, "RuntimeError: /" + "very-long-path/" * 40)
    assert "RuntimeError: /very-long-path/very-long" in visit("viewer").text("/")


def test_failures_are_in_groups_with_the_boxes_where_they_were(visit: Visit, db: Db) -> None:
    here = one(db, "select qwf.register_worker('box-a', 'default')")
    for number in (1, 2, 3):
        newest = fail(db, f"cannot read img_{number}.png", here)
    fail(db, "no paper")
    page = visit("viewer").text("/")
    group = page[page.index(f'id="failure-{newest}"') :].partition("</li>")[0]
    assert '<b class="error">3 ' in group
    assert "cannot read img_3.png" in group
    assert 'on <b><a href="/fleet/box-a">box-a</a></b>:' in group
    assert '<b class="error">1 ' in page


def test_a_job_that_no_worker_can_take_is_named(visit: Visit, db: Db) -> None:
    info = Jsonb({"models": ["flux"]})
    db.execute("select qwf.register_worker('box-a', 'default', %s)", (info,))
    stuck = one(db, "select qwf.enqueue('draw', model => 'llama')")
    possible = one(db, "select qwf.enqueue('draw', model => 'flux')")
    db.execute("select qwf.create_queue('mail')")
    unserved = one(db, "select qwf.enqueue('send', queue => 'mail')")
    page = visit("viewer").text("/")
    assert f'id="stuck-{stuck}"' in page
    assert f'id="stuck-{possible}"' not in page
    assert f'id="stuck-{unserved}"' not in page
    assert "unserved" in page
    assert "model llama" in page


def test_a_broken_invariant_is_named(visit: Visit, db: Db) -> None:
    assert "✓ invariants hold" in visit("viewer").text("/")
    job = one(db, "select qwf.enqueue('resize')")
    db.execute("update qwf.jobs set status = 'running' where id = %s", (job,))
    page = visit("viewer").text("/")
    assert "broken invariant" in page
    assert f"job {job}" in page


def test_it_says_when_nobody_ticks(visit: Visit, db: Db) -> None:
    assert "no tick yet" in visit("viewer").text("/")
    db.execute("select qwf.tick()")
    assert "✓ tick" in visit("viewer").text("/")
    db.execute("select setval('qwf.last_tick',"
               " (extract(epoch from now() - interval '1 hour') * 1000)::bigint)")  # fmt: skip
    assert "last tick 1 h 00 min ago" in visit("viewer").text("/")


def test_what_waits_and_is_not_served_comes_first(visit: Visit, db: Db) -> None:
    for queue in ("a", "b", "c"):
        db.execute("select qwf.create_queue(%s)", (queue,))
        db.execute("select qwf.enqueue('t', queue => %s)", (queue,))
    db.execute("select qwf.register_worker('box-a', queue) from unnest('{a,b}'::text[]) queue")
    db.execute("select qwf.pause_queue('b')")
    page = visit("viewer").text("/")
    order = re.findall(r'id="queue-(\w+)"', page)
    assert order[:3] == ["c", "b", "a"]
    assert "unserved" in page


def test_the_trend_of_a_queue_is_drawn_from_its_minutes(visit: Visit, db: Db) -> None:
    db.execute(
        "insert into qwf.queue_minutes (queue, minute, queued, completed, error)"
        " select 'default', date_bin('1 min', now(), 'epoch') - n * interval '1 min', 9, 2, 1"
        " from generate_series(1, 10) n"
    )
    page = visit("viewer").text("/")
    assert page.count("<line ") == 9
    assert "↓ 9" in page
    assert re.search(r'data-label="completed">20</td>\s*<td [^>]*data-label="failed">10</td>', page)


def test_the_last_hour_is_drawn_once_ten_minutes_are_known(visit: Visit, db: Db) -> None:
    minute = (
        "insert into qwf.queue_minutes (queue, minute, queued, running, completed, fatal,"
        " head_wait_seconds) select 'default', date_bin('1 min', now(), 'epoch')"
        " - n * interval '1 min', 9, 2, 1200, 1, 75 from generate_series(%s::int, %s::int) n"
    )
    db.execute(minute, (2, 10))
    assert 'id="hour"' not in visit("viewer").text("/")
    db.execute(minute, (11, 12))
    page = visit("viewer").text("/")
    chart = page[page.index('id="hour"') :].partition("</figure>")[0]
    said = ": 1,201 started, 1,200 completed, 1 failed, first waits 1 min 15 s"
    for part in ("13,200 completed", "11 failed", "at most 1,201 a minute", said):
        assert part in chart, part
    assert chart.count('<rect class="failed"') == 11


def test_the_runs_of_now_are_there_with_what_is_usual(visit: Visit, db: Db) -> None:
    over, runs = ask(db), [ask(db) for _ in range(5)]
    db.execute("select qwf.cancel_run(%s)", (over,))
    db.execute("insert into qwf.usual_times (kind, name, since, p50, p90)"
               " values ('run', 'pick', now(), 27, 52)")  # fmt: skip
    page = visit("viewer").text("/")
    now = re.findall(r'id="now-(\d+)"', page)
    assert now == [*map(str, reversed(runs)), str(over)], "those that are open come first"
    assert "usually 27 s" in page


@pytest.mark.parametrize("level", ["viewer", "operator", "admin"])
def test_only_an_admin_pauses_a_queue_and_sees_it_at_once(visit: Visit, db: Db, level: str) -> None:
    person = visit(level)
    assert ('action="/do/pause_queue"' in person.text("/")) == (level == "admin")
    person.do("pause_queue", name="default")
    paused = level == "admin"
    assert ('action="/do/resume_queue"' in person.text("/")) == paused
    assert one(db, "select paused from qwf.queues where name = 'default'") == paused


def test_every_page_counts_failures_and_questions_in_menu_title_and_icon(
    visit: Visit, db: Db
) -> None:
    quiet = visit("viewer").text("/queues")
    assert "<title>Queues · qwf</title>" in quiet
    assert 'href="/static/icon.svg"' in quiet
    ask(db)
    asked = visit("viewer").text("/queues")
    assert "<title>?1 Queues · qwf</title>" in asked
    assert 'href="/static/icon-asked.svg"' in asked
    fail(db, "no paper")
    old = fail(db, "old")
    db.execute("update qwf.jobs set finished_at = now() - interval '2 h' where id = %s", (old,))
    failed = visit("viewer").text("/fleet")
    assert "<title>✗1 ?1 Fleet · qwf</title>" in failed
    assert 'href="/static/icon-failed.svg"' in failed
    part = visit("viewer").get("/fleet", headers={"HX-Request": "true"}).text
    assert 'data-failed="1" data-asked="1"' in part
    assert visit("viewer").get("/static/icon-failed.svg").status_code == 200


def test_whatever_producers_and_workers_write_the_page_shows(visit: Visit, db: Db) -> None:
    poison.fill(db)
    page = visit("admin").text("/")
    assert "<h1>Overview</h1>" in page
    assert not {"\x1b", "\u202e", "\u200b"} & set(page)


def test_a_box_says_how_many_jobs_failed_on_it(visit: Visit, db: Db) -> None:
    for host, count in (("box-a", 1), ("box-b", 2)):
        worker = made_jobs.worker(db, "default", host)
        for number in range(count):
            made_jobs.fail(db, worker, "resize", f"no space for {number}")
    for path in ("/", "/fleet"):
        page = visit("viewer").text(path)
        for host, words in (("box-a", "1 job failed"), ("box-b", "2 jobs failed")):
            box = page.partition(f'id="box-{host}"')[2].partition(f'id="worker-{host}')[0]
            assert f'href="/fleet/{host}#failed">' in box
            assert (f"✗ {words[0]} failed" if path == "/" else f"{words} here") in box
    row = visit("viewer").text("/").partition("Newest failures")[2].partition("</li>")[0]
    assert re.search(r'resize</a> on <b><a href="/fleet/box-a">', row)
    assert 'id="failed"' in visit("viewer").text("/fleet/box-b")


def test_a_held_task_is_named_where_its_jobs_do_not_count(visit: Visit, db: Db) -> None:
    made_jobs.enqueue(db, "killer")
    made_jobs.worker(db, "default")
    assert "every job can start" in visit("admin").text("/")
    db.execute(
        "insert into qwf.held_tasks (queue, task, hosts, crashes, other_ends, crashed_at, until)"
        " values ('default', 'killer', '{box-a,box-b}', 2, 0, now(), now() + interval '5 min')"
    )
    admin = visit("admin")
    page = admin.text("/")
    assert "every job can start" not in page
    row = rows_of(page, "Jobs that cannot start")["crashes-default-killer"]
    assert "it crashed on several boxes, so its jobs are held back" in row
    assert 'action="/do/resume_queue"' in row
    assert "held: killer" in admin.text("/queues")
    assert "Held back, because they crashed: killer" in admin.text("/queues/default")
    assert one(db, "select held from qwf.overview") == ["default"]
    answer = admin.do("resume_queue", name="default", task="killer")
    assert "one job of killer runs alone; unless it crashes, the others follow" in answer.text


def test_jobs_that_cannot_start_are_named_with_what_helps(visit: Visit, db: Db) -> None:
    for queue in ("mail", "blender"):
        db.execute("select qwf.create_queue(%s)", (queue,))
        made_jobs.enqueue(db, "send", queue=queue)
    db.execute("select qwf.pause_queue('mail')")
    made_jobs.worker(db, "default", labels={"disk": "slow"}, vram_mb=1024)
    job = made_jobs.enqueue(db, "cut", requires={"disk": "fast"}, vram_mb=2048)
    rows = rows_of(visit("admin").text("/"), "Jobs that cannot start")
    assert "1 job waits, because the queue is paused" in rows["held-mail"]
    assert 'action="/do/resume_queue"' in rows["held-mail"]
    assert "Start one: <code>qwf agent --queue blender</code>" in rows["held-blender"]
    assert "fits: it needs 2.0 GiB VRAM, label disk=fast" in rows[f"stuck-{job}"]
    assert f'<a class="button" href="/jobs/{job}">' in rows[f"stuck-{job}"]
    page = visit("admin").text(f"/jobs/{job}")
    assert "What helps: start a worker of queue default that has all of it" in page
    assert "Run it next" not in page


def test_a_queue_that_holds_jobs_is_named_though_its_jobs_could_not_be_checked(
    visit: Visit, db: Db
) -> None:
    made_jobs.enqueue(db, "send")
    db.execute("alter function qwf.find_unassignable rename to slow")
    page = visit("operator").text("/")
    assert "Jobs that cannot start" in page
    assert "no live worker serves the queue" in page


def test_workers_that_are_off_are_named_where_jobs_wait_for_them(visit: Visit, db: Db) -> None:
    made_jobs.worker(db, "default")
    db.execute("select qwf.worker_control('box-a', 'default', 'off')")
    made_jobs.enqueue(db, "cut")
    row = rows_of(visit("admin").text("/"), "Jobs that cannot start")["held-default"]
    assert "its workers are switched off" in row
    assert '<a class="button" href="/fleet">' in row


SERVERS = [
    {"name": "vllm", "kind": "openai", "parallel": 8, "card": 0, "models": {"qwen": 9500}},
    {"name": "llama", "kind": "openai", "parallel": 1, "card": "none", "models": {"tiny": None}},
]
DOING = [
    {"name": "vllm", "state": "ready", "model": "qwen", "inflight": 3, "tokens_per_s": 41.6},
    {"name": "llama", "state": "broken", "error": "exit 1: no memory\nmore of its log"},
]


def serving(db: Db, *doing: dict[str, Any]) -> str:
    """Box-a has two model servers, which do this."""
    name = made_jobs.worker(db, "llm", models=["qwen"], servers=SERVERS)
    stats = Jsonb({"servers": doing or DOING})
    db.execute("select qwf.heartbeat(%s, stats => %s)", (name, stats))
    return name


def test_each_model_server_is_named_in_the_line_of_its_box(visit: Visit, db: Db) -> None:
    serving(db)
    page = visit("viewer").text("/")
    line = page[page.index('id="box-box-a"') :].partition("</li>")[0]
    broken, ready = re.split(r'<span class="small"><span class="state', line)[-2:]
    assert "✗</i> broken" in broken
    for part in ("<b>vllm</b>", "qwen", "3 of 8", "42 tokens/s", "state-ready"):
        assert part in ready, ready


def test_a_broken_model_server_is_a_notice_with_a_button_for_who_may(visit: Visit, db: Db) -> None:
    name = serving(db)
    rows = rows_of(visit("viewer").text("/"), "Model servers that do not work")
    (row,) = rows.values()
    for part in ("broken", "<b>llama</b>", 'href="/fleet/box-a"', "exit 1: no memory"):
        assert part in row, row
    assert "more of its log" not in row
    assert "/do/" not in row
    admin = visit("admin")
    (row,) = rows_of(admin.text("/"), "Model servers that do not work").values()
    assert "Start again" in row
    given = dict(re.findall(r'name="(host|queue|model|action)" value="([^"]*)"', row))
    assert given == {"host": "box-a", "queue": "llm", "model": "tiny", "action": "load"}
    assert "asked llm on box-a to load" in admin.do("request_model", **given).text
    healthy = [DOING[0], {**DOING[1], "state": "off"}]
    stats = Jsonb({"servers": healthy})
    db.execute("select qwf.heartbeat(%s, stats => %s)", (name, stats))
    assert "Model servers that do not work" not in visit("viewer").text("/")
