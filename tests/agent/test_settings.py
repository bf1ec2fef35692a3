"""Settings that change are followed without a restart."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.harness import Agent, Database, StartAgent, until


def set_to(base: Database, agent: Agent, change: str) -> None:
    """Change settings, and wait until the agent knows."""
    base.conn.execute(f"update qwf.settings set {change}")  # type: ignore[arg-type]
    until(lambda: "settings of default have changed" in agent.said(), "the agent to know")


def test_a_watchdog_goes_by_the_settings_of_now(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    agent = start("--app", "bodies")
    set_to(base, agent, "stall_timeout = '0.3 s', stall_samples = 1")
    job_id = base.enqueue("silent", {"file": str(tmp_path / "pid")})
    assert base.attempted(job_id)["reason"] == "stalled"


def test_the_timeout_of_a_queue_counts_from_the_next_job_on(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    agent = start("--app", "bodies")
    base.conn.execute("select qwf.create_queue('default', timeout => '0.3 s')")
    until(lambda: "settings of default have changed" in agent.said(), "the agent to know")
    job_id = base.enqueue("silent", {"file": str(tmp_path / "pid")})
    assert base.attempted(job_id)["reason"] == "timeout"


def test_children_that_were_told_otherwise_make_way(base: Database, start: StartAgent) -> None:
    agent = start("--app", "bodies")
    first = base.ended(base.enqueue("whoami"))["output"]["pid"]
    set_to(base, agent, "max_log_bytes = 100")
    assert base.ended(base.enqueue("whoami"))["output"]["pid"] != first


@pytest.mark.parametrize("told", [True, False], ids=["told", "not told"])
def test_the_pace_of_heartbeats_changes(base: Database, start: StartAgent, told: bool) -> None:
    """Told by a NOTIFY, or, where that was missed, when it connects again."""
    start("--app", "bodies")
    before = base.one("select last_seen from qwf.workers")
    if not told:
        base.conn.execute("alter table qwf.settings disable trigger user")
    base.conn.execute("update qwf.settings set heartbeat = '0.1 s'")
    if not told:
        base.conn.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and application_name like 'qwf agent%'"
        )
    query = "select last_seen from qwf.workers"
    first = until(lambda: (at := base.one(query)) != before and at, "a heartbeat")
    until(lambda: (base.one(query) - first).total_seconds() > 0.5, "others")
    assert (base.one("select clock_timestamp()") - base.one(query)).total_seconds() < 5


def test_nothing_is_said_where_nothing_has_changed(base: Database) -> None:
    with base.conn.cursor() as cursor:
        cursor.execute("listen worker_control")
        base.conn.execute("update qwf.settings set tick = tick")
        base.conn.execute("select qwf.pause_queue('cpu')")
        base.conn.execute("select qwf.create_queue('cpu', timeout => '1 h')")
        base.conn.execute("update qwf.settings set tick = '2 s'")
        told = [notify.payload for notify in base.conn.notifies(timeout=1, stop_after=3)]
    assert told == ["settings", "settings"]
