"""Bodies in any language."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from qwf_agent.child.body import BadOutput
from qwf_agent.child.command import CommandRefused, _read, resolve
from qwf_agent.system.exit_codes import MISCONFIGURED
from support.harness import USER, Database, StartAgent, alive, run_agent, until


def run(base: Database, *argv: Any, **inputs: Any) -> dict[str, Any]:
    """The first attempt of a command, with its job."""
    job_id = base.enqueue("command", {"command": list(argv), **inputs})
    attempt = base.attempted(job_id)
    return {**attempt, "job": base.job(job_id)}


@pytest.mark.parametrize(
    ("code", "outcome"),
    [(0, "completed"), (1, "error"), (64, "fatal"), (65, "fatal"), (75, "tempfail"), (78, "fatal")],
)
def test_the_exit_code_decides_the_outcome(shared: Database, code: int, outcome: str) -> None:
    attempt = run(shared, "exit.sh", code)
    assert attempt["outcome"] == outcome
    assert attempt["log_tail"] == f"leaving with {code}\n"
    if code:
        assert attempt["exit_code"] == code
        assert attempt["error"] == f"the command exited with code {code}"


def test_a_command_gets_inputs_a_folder_and_a_small_environment(shared: Database) -> None:
    attempt = run(shared, "echo.sh", "a b", 1.5, name="Ada")
    output = attempt["job"]["output"]
    assert output["args"] == "a b 1.5"
    assert output["same"], "standard input and the file QWF_INPUTS hold the same"
    assert output["cwd"] == output["out"]
    assert Path(output["out"], "stdin.json").read_text() == '{"name": "Ada"}'
    assert output["job"] == str(attempt["job_id"])
    assert output["attempt"] == "1"
    assert output["secret"] == "", "the address of the database is not passed on"


def test_the_last_line_is_the_output_if_it_is_an_object(shared: Database) -> None:
    assert run(shared, "print.sh", '{"n": 1}')["job"]["output"] == {"n": 1}
    assert run(shared, "print.sh", "[1]")["job"]["output"] == {}
    assert run(shared, "print.sh", "done")["job"]["output"] == {}


@pytest.mark.parametrize("text", ["[1]", "{", '{"x": NaN}'])
def test_a_bad_output_file_is_an_error(shared: Database, text: str) -> None:
    attempt = run(shared, "write.sh", text)
    assert attempt["outcome"] == "error"


def test_a_large_output_file_is_refused_unread(shared: Database) -> None:
    attempt = run(shared, "sparse.sh", "2000M")
    assert attempt["outcome"] == "error"
    assert attempt["error"].startswith("the file QWF_OUTPUT has 2097152000 bytes, the limit is ")
    assert attempt["max_rss_bytes"] < 1 << 30


def test_a_file_that_grows_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "output.json"
    file.write_text('{"x": 1}')
    old = file.stat()
    file.write_text('{"x": "%s"}' % ("y" * 100))
    monkeypatch.setattr(Path, "stat", lambda self, **_: old)
    with pytest.raises(BadOutput, match="the limit is 50"):
        _read(file, 50)


@pytest.mark.parametrize(
    ("argv", "error"),
    [
        (["x" * 5000], "command 'xxx"),
        (["/".join(["x" * 200] * 30)], "command 'xxx"),
        (["print.sh", "x" * 900_000], "the arguments of the command are too long"),
    ],
)
def test_what_no_system_can_start_is_not_tried_again(
    shared: Database, argv: list[str], error: str
) -> None:
    job_id = shared.enqueue("command", {"command": argv}, max_attempts=5)
    attempt = shared.attempted(job_id)
    assert attempt["outcome"] == "fatal"
    assert attempt["error"].startswith(f"Refused: {error}")
    assert len(attempt["error"]) < 2000
    assert shared.ended(job_id)["status"] == "failed"


@pytest.mark.parametrize(
    "argv",
    [
        ["/bin/true"],
        ["../bodies.py"],
        ["missing.sh"],
        ["plain.txt"],
        ["."],
        [""],
        [],
        "exit.sh",
        ["exit.sh", None],
        ["exit.sh", {"a": 1}],
        ["exit.sh", "a\\0b"],
    ],
)
def test_only_a_program_in_the_folder_may_run(shared: Database, argv: Any) -> None:
    if isinstance(argv, list):
        argv = [a.replace("\\0", "\x01") if isinstance(a, str) else a for a in argv]
    job_id = shared.enqueue("command", {"command": argv})
    attempt = shared.attempted(job_id)
    assert attempt["outcome"] in ("fatal", "error")


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("/bin/true")
    (tmp_path / "true").write_bytes(Path("/bin/true").read_bytes())
    (tmp_path / "true").chmod(0o755)
    with pytest.raises(CommandRefused, match="is not in"):
        resolve("out", tmp_path)
    assert resolve("true", tmp_path) == str((tmp_path / "true").resolve())


def test_no_shell_reads_the_arguments(shared: Database, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    run(shared, "print.sh", f"$(touch {trap}); touch {trap}")
    assert not trap.exists()


def test_a_process_left_behind_ends_with_the_job_and_does_not_delay_it(
    shared: Database, tmp_path: Path
) -> None:
    attempt = run(shared, "leave.sh", str(tmp_path / "pid"))
    assert attempt["job"]["output"] == {"left": True}
    assert not alive(int((tmp_path / "pid").read_text()))
    assert attempt["log_tail"].splitlines()[-1].startswith("warning: ended the process sleep ")


def test_a_cancelled_command_gets_sigterm(shared: Database, tmp_path: Path) -> None:
    file = tmp_path / "said"
    job_id = shared.enqueue("command", {"command": ["trap.sh", str(file)]})
    until(lambda: file.exists() and file.read_text() == "started\n")
    shared.one("select qwf.cancel_job(%s)", job_id)
    job = shared.ended(job_id)
    assert job["status"] == "cancelled"
    assert file.read_text() == "started\nstopped\n"


def test_a_command_that_ignores_sigterm_is_killed(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    base.conn.execute("update qwf.settings set cancel_grace = '0.2 s'")
    start("--allow-commands", str(USER / "commands"))
    file = tmp_path / "pid"
    job_id = base.enqueue("command", {"command": ["ignore.sh", str(file)]})
    pid = int(until(lambda: file.exists() and file.read_text()))
    base.one("select qwf.cancel_job(%s)", job_id)
    assert base.ended(job_id)["status"] == "cancelled"
    until(lambda: not alive(pid), "the death of the command")


def test_an_agent_without_a_folder_does_not_take_commands(
    base: Database, start: StartAgent
) -> None:
    command = base.enqueue("command", {"command": ["exit.sh", 0]})
    start("--app", "bodies")
    assert base.ended(base.enqueue("noop"))["status"] == "completed"
    assert base.job(command)["status"] == "queued"


@pytest.mark.parametrize(
    ("commands", "out"), [("x", "x"), ("x", "x/out"), ("x/bin", "x"), ("link", "x/out")]
)
def test_an_agent_refuses_commands_where_bodies_write(
    base: Database, tmp_path: Path, commands: str, out: str
) -> None:
    (tmp_path / "x" / "bin").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "x")
    folders = ("--allow-commands", str(tmp_path / commands), "--out-root", str(tmp_path / out))
    code, said = run_agent(tmp_path, *folders, QWF_DSN=base.dsn)
    assert code == MISCONFIGURED
    assert "are one inside the other" in said


def test_an_agent_warns_of_commands_that_others_can_change(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    folder = tmp_path / "commands"
    folder.mkdir(mode=0o755)
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o777)
    agent = start("--allow-commands", str(folder), "--out-root", str(tmp_path / "out"))
    assert f"{folder / 'run.sh'} can be changed by others, and so can what runs" in agent.said()
