"""The command `stop` runs even if the agent is killed: nothing else ends a container."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

from support.harness import Agent, Database, StartAgent, alive, lines, until
from support.llama import COMMAND
from support.served import ask, state

SERVE = ("sh", "-c", 'echo $$ > pid; exec "$@"', "serve", *COMMAND)
END = 'echo "$1" >> said; kill $(cat pid)'  # of the server, as `docker stop` does


def kill(agent: Agent) -> None:
    """Kill the agent, and wait until its guardian has ended."""
    (guardian,) = agent.processes("qwf-guardian")
    agent.signal(signal.SIGKILL)
    agent.ended()
    until(lambda: not alive(guardian), "the end of the guardian")


def test_it_runs_once_when_the_agent_is_killed(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    configure(stop=["sh", "-c", 'env > seen; echo "$1" >> said', "stop", "{model} {port}"])
    agent = start(PGPASSWORD="secret")
    base.ended(ask(base))
    found = state(base, "ready")
    kill(agent)
    assert lines(tmp_path / "said") == [f"tiny {found['port']}"]
    assert "secret" not in (tmp_path / "seen").read_text()
    assert not alive(found["pid"])
    assert "running ['sh'" in agent.said()


def test_it_runs_again_if_the_agent_was_killed_while_it_ran(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    hang = f"{END}; test $(wc -l < said) = 2 || sleep 600"
    configure(command=SERVE, idle="0.3 s", stop=["sh", "-c", hang, "stop", "stopped"])
    agent = start()
    base.ended(ask(base))
    state(base, "off")
    assert lines(tmp_path / "said") == ["stopped"]
    kill(agent)
    assert lines(tmp_path / "said") == ["stopped", "stopped"]


def test_it_does_not_run_for_a_server_that_was_stopped_before(
    base: Database, start: StartAgent, configure: Any, tmp_path: Path
) -> None:
    configure(command=SERVE, idle="0.3 s", stop=["sh", "-c", f"{END}; : > over", "stop", "stopped"])
    agent = start()
    base.ended(ask(base))
    state(base, "off")
    until((tmp_path / "over").exists, "the end of the command")
    until(lambda: agent.processes("sh") == [], "the agent to have seen that")
    kill(agent)
    assert lines(tmp_path / "said") == ["stopped"]


def test_a_command_that_cannot_run_is_logged(
    base: Database, start: StartAgent, configure: Any
) -> None:
    configure(stop=["no-such-program", "{port}"])
    agent = start()
    base.ended(ask(base))
    kill(agent)
    assert "cannot run no-such-program" in agent.said()
