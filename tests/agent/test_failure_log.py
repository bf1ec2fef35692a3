"""The log of an agent says which attempts failed, why, and what happens next."""

from __future__ import annotations

import json
import re
from typing import Any

from support.harness import Agent, Database, StartAgent, until


def warnings(agent: Agent) -> list[str]:
    """The warnings about jobs, without their times."""
    found = [line.partition(" WARNING ")[2] for line in agent.said().splitlines()]
    return [line for line in found if line.startswith("job ")]


def test_each_failed_attempt_is_one_line(base: Database, start: StartAgent) -> None:
    agent = start("--app", "bodies")
    job = base.enqueue("raising", {"kind": "value"}, max_attempts=2, backoff="[0]")
    fatal = base.enqueue("raising", {"kind": "permanent"}, max_attempts=5)
    for ended in (job, fatal, base.enqueue("noop")):
        base.ended(ended)
    until(lambda: len(warnings(agent)) == 3, "the lines")
    first, *rest = sorted(warnings(agent), key=lambda line: "failed" in line)
    tried = "(try 1 of 2|attempt 1)"  # the second, if the next attempt has started already
    assert re.fullmatch(rf"job {job} raising: error, {tried}, runs again: ValueError: .*", first)
    assert sorted(rest) == [
        f"job {job} raising: error, try 2 of 2, failed: ValueError: as asked",
        f"job {fatal} raising: fatal, attempt 1, failed: PermanentError: as asked",
    ]


def test_it_says_when_the_job_runs_again(base: Database, start: StartAgent) -> None:
    agent = start("--app", "bodies")
    job = base.enqueue("raising", {"kind": "temporary"}, backoff="[600]")
    until(lambda: warnings(agent), "the line")
    line = rf"job {job} raising: tempfail, try 1 of 4, runs again in (\d+) s: TemporaryError: .*"
    found = re.fullmatch(line, warnings(agent)[0])
    assert found is not None
    assert 400 < int(found[1]) < 800


def test_each_line_says_the_zone_of_its_time(base: Database, start: StartAgent) -> None:
    agent = start("--app", "bodies", TZ="Asia/Kolkata")
    until(lambda: "serving" in agent.said(), "a line")
    for line in agent.said().splitlines():
        assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\+0530 [A-Z]+ ", line), line


def test_losses_say_their_reason(base: Database, start: StartAgent) -> None:
    agent = start("--app", "bodies", "--nodes", "steps")
    job = base.enqueue("sleeping", {"seconds": 600}, timeout="0.2 s")
    base.ended(job)
    until(lambda: len(warnings(agent)) == 3, "the lines")
    assert warnings(agent)[2] == (
        f"job {job} sleeping: lost (timeout), loss 3 of 3, failed: "
        "timeout: the body ran longer than 0.2 s and was killed"
    )


def test_errors_cannot_control_a_terminal(base: Database, start: StartAgent) -> None:
    agent = start("--app", "bodies")
    base.ended(base.enqueue("system_exit", {"code": "\033[2J\u202e red\nsecond line"}))
    until(lambda: warnings(agent), "the line")
    assert warnings(agent)[0].endswith("failed: exited: \ufffd[2J\ufffd red")


def test_a_reason_cannot_forge_a_line(base: Database, start: StartAgent) -> None:
    """A worker's login is enough to give one, with withdraw_worker()."""
    agent = start("--app", "bodies", "--host", "box")
    forged = "2026-01-02 03:04:05,678 ERROR the disk is full"
    base.conn.execute(
        "select qwf.worker_control('box', 'default', 'off', reason => %s)",
        (f"tests\n{forged}\r\033[2J\x85\u2028{forged}\tend",),
    )
    until(lambda: "off (" in agent.said(), "the agent to know")
    said = agent.said().split("off (")[1]
    replaced = 5 * "\ufffd"
    end = f"{forged}{replaced[:2]}[2J{replaced[:2]}{forged}\tend"
    assert said.partition("tests\n")[2].split("\n")[0] == f"  {end}"


def events(agent: Agent) -> list[dict[str, Any]]:
    return [json.loads(line) for line in agent.said().splitlines()]


def test_a_json_log_has_an_object_for_each_event(base: Database, start: StartAgent) -> None:
    agent = start("--app", "bodies", "--log-format", "json")
    job = base.enqueue("raising", {"kind": "value"})
    base.ended(job)
    failed = until(lambda: [event for event in events(agent) if "job" in event], "the event")[0]
    assert failed.pop("ts").endswith("+00:00")
    assert failed == {
        "level": "warning", "logger": "qwf_agent", "job": job, "task": "raising",
        "queue": "default", "attempt": 1, "outcome": "error", "error": "ValueError: as asked",
        "status": "failed", "tries": 1, "max_tries": 1,
        "message": f"job {job} raising: error, try 1 of 1, failed: ValueError: as asked",
    }  # fmt: skip
    assert agent.stop() == 0
    assert events(agent)[-1]["message"] == "stopped"


def test_a_flood_of_failures_is_counted(base: Database, start: StartAgent) -> None:
    agent = start("--app", "bodies")
    base.conn.execute(
        "select qwf.enqueue('raising', '{\"kind\": \"value\"}') from generate_series(1, 400)"
    )
    failed = "select count(*) from qwf.jobs where status = 'failed'"
    until(lambda: base.one(failed) == 400, "the failures")
    assert agent.stop() == 0
    counted = re.findall(r"(\d+) more attempts failed in 10 s: (\d+) x raising error", agent.said())
    assert len(warnings(agent)) + sum(int(more) for more, _ in counted) == 400
    assert len(warnings(agent)) < 200


def test_a_job_that_goes_back_is_no_failure(base: Database, start: StartAgent) -> None:
    agent = start("--app", "bodies", "--grace", "0", "-v")
    job = base.enqueue("sleeping", {"seconds": 600})
    base.running(job)
    assert agent.stop() == 0
    assert base.job(job)["status"] == "queued"
    assert warnings(agent) == []
    assert f"job {job} sleeping: released\n" in agent.said()
