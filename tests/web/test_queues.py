"""The pages of queues and limits."""

from __future__ import annotations

from typing import Any

import psycopg

from support.visitors import Visit

Db = psycopg.Connection[Any]


def test_a_queue_shows_its_line_and_who_serves_it(visit: Visit, db: Db) -> None:
    db.execute("select qwf.register_worker('box-a', 'default', '{\"slots\": 3}')")
    job = db.execute("select qwf.enqueue('resize')").fetchone()
    db.execute("select qwf.create_limit('api', 1)")
    db.execute("select qwf.enqueue('call', limit_by => 'api')")
    assert job is not None
    page = visit("viewer").text("/queues/default")
    for shown in (f"job {job[0]}", "resize", "box-a", "0 of 3 slots", "Under a limit", "call"):
        assert shown in page
    assert "2 queued" in visit("viewer").text("/queues/default?count=1")


def test_the_line_has_jobs_whose_limit_counts_by_key(visit: Visit, db: Db) -> None:
    db.execute("select qwf.create_limit('customer', 1, keyed => true)")
    db.execute("select qwf.enqueue('bill', limit_by => 'customer:acme')")
    page = visit("viewer").text("/queues/default")
    assert "Under a limit" in page
    assert "customer:acme" in page


def test_an_empty_queue_says_how_it_gets_a_worker(visit: Visit) -> None:
    assert "qwf agent --queue default" in visit("viewer").text("/queues/default")


def test_a_queue_that_is_not_there_is_said(visit: Visit) -> None:
    answer = visit("viewer").get("/queues/nope")
    assert (answer.status_code, "no queue nope" in answer.text) == (404, True)


def test_a_paused_queue_can_be_resumed(visit: Visit, db: Db) -> None:
    admin = visit("admin")
    assert 'action="/do/pause_queue"' in admin.text("/queues")
    admin.do("pause_queue", name="default")
    assert 'action="/do/resume_queue"' in visit("admin").text("/queues")
    assert "paused" in visit("viewer").text("/queues/default")
    assert 'action="/do/' not in visit("viewer").text("/queues")


def test_settings_of_a_queue_change_and_empty_fields_change_nothing(visit: Visit, db: Db) -> None:
    admin = visit("admin")
    admin.do("create_queue", name="mail", max_running="4", timeout="", lease="2 min")
    admin.do("create_queue", name="mail", max_running="5", timeout="", lease="")
    query = "select max_running, lease::text, timeout::text from qwf.queues where name = 'mail'"
    assert db.execute(query).fetchone() == (5, "00:02:00", None)
    refused = admin.do("create_queue", name="mail", lease="two fortnights")
    assert (refused.status_code, "invalid input syntax" in refused.text) == (422, True)


def test_a_setting_of_a_queue_is_unset(visit: Visit, db: Db) -> None:
    admin = visit("admin")
    admin.do("create_queue", name="mail", lease="2 min", timeout="1 h")
    page = admin.text("/queues/mail")
    assert 'name="unset" value="lease"' in page
    assert 'name="unset" value="retention"' not in page, "it has none of its own"
    assert admin.do("create_queue", name="mail", unset="lease").status_code == 200
    admin.do("create_queue", name="both", lease="2 min", timeout="1 h")
    assert admin.do("create_queue", name="both", unset=["lease", "timeout"]).status_code == 200
    both = "select num_nonnulls(lease, timeout) from qwf.queues where name = 'both'"
    assert db.execute(both).fetchone() == (0,)
    query = "select lease, timeout::text from qwf.queues where name = 'mail'"
    assert db.execute(query).fetchone() == (None, "01:00:00")


def test_the_limit_of_a_queue_is_lifted(visit: Visit, db: Db) -> None:
    admin = visit("admin")
    assert "Lift the limit" not in admin.text("/queues/default")
    admin.do("create_queue", name="mail", max_running="4")
    assert 'value="queue:mail"' in admin.text("/queues/mail")
    assert admin.do("drop_limit", name="queue:mail").status_code == 200
    query = "select max_running from qwf.queues where name = 'mail'"
    assert db.execute(query).fetchone() == (None,)
    assert "Lift the limit" not in admin.text("/queues/mail")


def test_who_takes_a_new_job_is_shown_and_set(visit: Visit, db: Db) -> None:
    assert "goes to the best worker that has room" in visit("viewer").text("/queues/llm")
    admin = visit("admin")
    assert "goes to the first to ask" in admin.text("/queues/default")
    admin.do("create_queue", name="default", placement="pack")
    page = admin.text("/queues/default")
    assert '<option value="pack" selected>' in page
    query = "select placement from qwf.queues where name = 'default'"
    assert db.execute(query).fetchone() == ("pack",)
    refused = admin.do("create_queue", name="default", placement="stack")
    assert (refused.status_code, "placement is spread or pack" in refused.text) == (409, True)


def test_a_limit_shows_who_holds_its_places(visit: Visit, db: Db) -> None:
    admin = visit("admin")
    admin.do("create_limit", name="api", max_running="2")
    db.execute("select qwf.enqueue('call', limit_by => 'api') from generate_series(1, 3)")
    held = db.execute("select job_id from qwf.claim('default', 'w', 5)").fetchall()
    page = visit("viewer").text("/queues")
    assert "2 of 2" in page
    assert all(f"job {job}" in page for (job,) in held)
    db.execute("select qwf.hold_limit('api', qwf.now() + interval '2 days', job_id => 7)")
    assert "no job starts until" in (page := visit("viewer").text("/queues"))
    assert "by job 7" in page
    assert admin.do("hold_limit", name="api", until="-infinity").status_code == 200
    assert "no job starts until" not in admin.text("/queues")


def test_the_rate_of_a_limit_is_set_and_shown(visit: Visit, db: Db) -> None:
    admin = visit("admin")
    assert admin.do("create_limit", name="smtp", starts="2", per="1 hour").status_code == 200
    db.execute("select qwf.enqueue('call', limit_by => 'smtp') from generate_series(1, 3)")
    db.execute("select qwf.claim('default', 'w', 5, startable => 5)")
    assert "2 of 2 in 1 h</td>" in (page := visit("viewer").text("/queues"))
    assert 'data-label="places">2</td>' in page
    assert admin.do("create_limit", name="smtp", max_running="7", starts="").status_code == 200
    query = "select max_running, starts, per::text from qwf.limits"
    assert db.execute(query).fetchone() == (7, 2, "01:00:00")


def test_what_a_failure_does_is_shown_and_set(visit: Visit, db: Db) -> None:
    admin = visit("admin")
    admin.do("create_queue", name="default", on_failure="ask")
    assert '<option value="ask" selected>' in admin.text("/queues/default")
    query = "select on_failure from qwf.queues where name = 'default'"
    assert db.execute(query).fetchone() == ("ask",)


def test_the_history_of_a_queue_is_sent_by_the_minute(visit: Visit, db: Db) -> None:
    db.execute(
        "insert into qwf.queue_minutes (queue, minute, queued, running, completed, error)"
        " select 'default', date_bin('1 min', now(), 'epoch') - n * interval '1 min', n, 1, 2, n"
        " from generate_series(1, 3) n"
    )
    sent = visit("viewer").get("/history/queues/default").json()
    assert [sent["lines"][line] for line in ("queued", "completed", "failed")] == [
        [3, 2, 1], [2, 2, 2], [3, 2, 1],
    ]  # fmt: skip
    assert len(sent["at"]) == 3
    assert visit("stranger").get("/history/queues/default").status_code == 401


def test_a_shorter_retention_of_a_queue_says_first_what_it_deletes(visit: Visit, db: Db) -> None:
    for _ in range(2):
        db.execute("select qwf.enqueue('t')")
        db.execute("select qwf.finish(c.job_id, c.token, 'fatal') from qwf.claim('default', 'w') c")
    db.execute("update qwf.jobs set finished_at = finished_at - interval '1 h'")
    visitor, kept = visit("admin"), "select retention from qwf.queues where name = 'default'"
    assert "delete them" in visitor.text("/queues/default")
    answer = visitor.do("create_queue", name="default", retention="1 min")
    assert answer.status_code == 409
    assert "becomes 1 min, which deletes 2 finished jobs of queue default" in answer.text
    assert db.execute(kept).fetchone() == (None,)
    harmless = visitor.do("create_queue", name="default", retention="2 h")
    assert harmless.status_code == 200
    sure = visitor.do("create_queue", name="default", retention="1 min", sure="true")
    assert sure.status_code == 200
    assert str(db.execute(kept).fetchone()[0]) == "0:01:00"  # type: ignore[index]


def test_a_retention_that_is_unset_says_first_what_it_deletes(visit: Visit, db: Db) -> None:
    db.execute("select qwf.create_queue('default', retention => '1 year')")
    db.execute("select qwf.enqueue('t')")
    db.execute("select qwf.finish(c.job_id, c.token, 'fatal') from qwf.claim('default', 'w') c")
    db.execute("update qwf.jobs set finished_at = finished_at - interval '100 days'")
    visitor, kept = visit("admin"), "select retention from qwf.queues where name = 'default'"
    answer = visitor.do("create_queue", name="default", unset="retention")
    assert answer.status_code == 409
    assert "which deletes 1 finished job of queue default" in answer.text
    assert db.execute(kept).fetchone() != (None,)
    assert visitor.do("create_queue", name="default", unset="lease").status_code == 200
    sure = visitor.do("create_queue", name="default", unset="retention", sure="true")
    assert sure.status_code == 200
    assert db.execute(kept).fetchone() == (None,)


def test_a_limit_that_counts_by_key_shows_its_busiest_keys(visit: Visit, db: Db) -> None:
    visit("admin").do("create_limit", name="customer", max_running="2", keyed="true")
    db.execute("select qwf.enqueue('t', limit_by => 'customer:acme') from generate_series(1, 5)")
    waits = db.execute("select max(id) from qwf.jobs").fetchone()
    db.execute("select qwf.claim('default', 'w', 9)")
    page = visit("viewer").text("/queues")
    for shown in ("customer:KEY", "2, 2 of a key", "?keys=customer"):
        assert shown in page
    page = visit("viewer").text("/queues?keys=customer")
    for shown in ("Busiest keys of customer", "customer:acme", "2 of 2 running"):
        assert shown in page
    assert waits is not None
    page = visit("admin").text(f"/jobs/{waits[0]}")
    assert "customer:acme has 2 of 2 running" in page
    assert "Create limit" not in page
