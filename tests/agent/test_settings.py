"""An agent applies changed settings without a restart."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path

import pytest

from qwf_agent.agent.settings import SHORTEST_S
from support.harness import Agent, Database, StartAgent, until


def set_to(base: Database, agent: Agent, change: str) -> None:
    """Change settings, and wait until the agent knows."""
    base.conn.execute(f"update qwf.settings set {change}")  # type: ignore[arg-type]
    until(lambda: "settings of default have changed" in agent.said(), "the agent to know")


def test_a_watchdog_uses_changed_settings(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    agent = start("--app", "bodies")
    set_to(base, agent, "stall_timeout = '0.3 s', stall_samples = 1")
    job_id = base.enqueue("silent", {"file": str(tmp_path / "pid")})
    assert base.attempted(job_id)["reason"] == "stalled"


def test_a_changed_timeout_applies_from_the_next_job(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    agent = start("--app", "bodies")
    base.conn.execute("select qwf.create_queue('default', timeout => '0.3 s')")
    until(lambda: "settings of default have changed" in agent.said(), "the agent to know")
    job_id = base.enqueue("silent", {"file": str(tmp_path / "pid")})
    assert base.attempted(job_id)["reason"] == "timeout"


def test_children_with_old_settings_are_replaced(base: Database, start: StartAgent) -> None:
    agent = start("--app", "bodies")
    first = base.ended(base.enqueue("whoami"))["output"]["pid"]
    set_to(base, agent, "max_log_bytes = 100")
    assert base.ended(base.enqueue("whoami"))["output"]["pid"] != first


@pytest.mark.parametrize("told", [True, False], ids=["told", "not told"])
def test_the_heartbeat_interval_changes(base: Database, start: StartAgent, told: bool) -> None:
    """The agent learns it from a NOTIFY, or, if it missed that, when it reconnects."""
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
    beats = [before]
    while len(beats) < 6:
        beats.append(until(lambda: (at := base.one(query)) != beats[-1] and at, "a heartbeat"))
    assert beats[-1] - beats[1] < timedelta(seconds=20), "in the old interval it is 40 s"


def test_there_is_no_notification_without_a_change(base: Database) -> None:
    with base.conn.cursor() as cursor:
        cursor.execute("listen worker_control")
        base.conn.execute("update qwf.settings set tick = tick")
        base.conn.execute("select qwf.pause_queue('cpu')")
        base.conn.execute("select qwf.create_queue('cpu', timeout => '1 h')")
        base.conn.execute("update qwf.settings set tick = '2 s'")
        told = [notify.payload for notify in base.conn.notifies(timeout=1, stop_after=3)]
    assert told == ["settings", "settings"]


@pytest.mark.parametrize(
    ("payload", "function"), [("settings", "agent_settings"), ("box:default", "worker_orders")]
)
def test_a_flood_of_notifications_costs_few_calls(
    base: Database, start: StartAgent, payload: str, function: str
) -> None:
    """Anyone who can connect to the database can send one."""
    base.conn.execute(
        f"alter database {base.conn.info.dbname} set track_functions = 'all'"  # type: ignore[arg-type]
    )
    start("--app", "bodies", "--host", "box")
    began = time.monotonic()
    for _ in range(3000):
        base.conn.execute("select pg_notify('worker_control', %s)", (payload,))
    calls = "select coalesce(sum(calls), 0) from pg_stat_user_functions where funcname = %s"
    base.ended(base.enqueue("noop"))
    base.conn.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where application_name like 'qwf agent%'"
    )  # so that it sends its figures
    made = until(lambda: base.one(calls, function), "the figures")
    assert made <= 10 + (time.monotonic() - began) / SHORTEST_S
