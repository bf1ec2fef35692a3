"""Whatever the database answers, an agent goes on, or says why it ends and hands its jobs back."""

from __future__ import annotations

from qwf_agent.system.exit_codes import BROKEN
from support.harness import Database, StartAgent, until

EVERYTHING_ELSE = (
    "datestyle = 'German'", "intervalstyle = 'sql_standard'", "timezone = '<+0345>-03:45'",
    "client_encoding = 'LATIN1'", "bytea_output = 'escape'", "extra_float_digits = -15",
    "standard_conforming_strings = off",
)  # fmt: skip


def test_an_agent_works_with_any_settings_of_its_database(
    base: Database, start: StartAgent
) -> None:
    for setting in EVERYTHING_ELSE:
        base.conn.execute(f"alter database {base.conn.info.dbname} set {setting}")  # type: ignore[arg-type]
    agent = start("--app", "bodies", "--host", "box")
    job = base.ended(base.enqueue("greet", {"who": "é\\ ' 😀"}, timeout="1 day", queue="default"))
    assert job["output"] == {"text": "hello é\\ ' 😀"}
    base.conn.execute(
        "select qwf.worker_control('box', 'default', 'off', 'pause', until => '9999-12-31Z')"
    )
    until(lambda: "box:default is off (pause)" in agent.said(), "the agent to know")
    base.conn.execute("select qwf.worker_control('box', 'default', 'on')")
    until(lambda: "box:default is on again" in agent.said(), "the agent to know")
    assert base.ended(base.enqueue("noop"))["status"] == "completed"
    assert agent.stop() == 0


def test_an_agent_obeys_an_order_whose_end_it_cannot_read(
    base: Database, start: StartAgent
) -> None:
    agent = start("--app", "bodies", "--host", "box")
    base.conn.execute("alter table qwf.worker_controls disable trigger tg_worker_controls__write")
    base.conn.execute(
        "insert into qwf.worker_controls (host_label, queue, desired_state, until)"
        " values ('box', 'default', 'off', 'infinity')"
    )
    until(lambda: not agent.children(), "the children to go")
    base.conn.execute("delete from qwf.worker_controls")
    assert base.ended(base.enqueue("noop"))["status"] == "completed"


def test_an_agent_that_cannot_read_its_claims_ends_and_hands_them_back(
    base: Database, start: StartAgent
) -> None:
    """To go on would be to claim every job of the queue, only to lose it."""
    agent = start("--app", "bodies")
    base.conn.execute("alter type qwf.claimed_job rename attribute token to key")
    jobs = [base.enqueue("noop") for _ in range(3)]
    assert agent.ended() == BROKEN
    assert "this agent ends because of a defect in it" in agent.said()
    assert "'token' is not in list" in agent.said()
    assert [(base.job(job)["status"], base.job(job)["losses"]) for job in jobs] == [
        ("queued", 0)
    ] * 3


def test_settings_that_an_agent_cannot_read_change_nothing(
    base: Database, start: StartAgent
) -> None:
    agent = start("--app", "bodies")
    base.conn.execute("alter function qwf.agent_settings rename to old_agent_settings")
    base.conn.execute(
        "create function qwf.agent_settings(queue text) returns jsonb"
        " language sql as $$ select '{\"lease\": null}'::jsonb $$"
    )
    base.conn.execute("notify worker_control, 'settings'")
    until(lambda: "cannot read the settings of default" in agent.said(), "the warning")
    assert base.ended(base.enqueue("noop"))["status"] == "completed"


def test_rows_without_a_job_are_told_once_and_claimed_no_more(
    base: Database, start: StartAgent
) -> None:
    base.conn.execute("create table calls (at timestamptz)")
    arguments = base.one("select pg_get_function_arguments('qwf.claim'::regproc)")
    base.conn.execute(
        f"create or replace function qwf.claim({arguments}) returns setof qwf.claimed_job"
        " language sql as $$ insert into public.calls values (now());"
        " select (null::qwf.claimed_job).* from generate_series(1, 3) $$"
    )
    agent = start("--app", "bodies", "--poll", "0.01")
    jobs = [base.enqueue("noop") for _ in range(50)]
    until(lambda: "returned 3 rows without a job" in agent.said())
    for _ in range(50):
        base.enqueue("noop")
    assert agent.stop() == 0
    assert agent.said().count("rows without a job") == 1
    assert base.one("select count(*) from calls") == 1
    assert base.job(jobs[0])["status"] == "queued"
