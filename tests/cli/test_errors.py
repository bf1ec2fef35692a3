"""Bad input of every kind gives a message that says what to do, never a traceback."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import shlex
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import psycopg
import pytest
from click.testing import CliRunner
from rich.text import Text

from qwf_agent import __version__
from qwf_agent.cli import errors
from qwf_agent.cli import qwf as command
from qwf_agent.look.draw.visible import Terminal
from support.harness import until
from support.welcome import Cli

ENTRY = [sys.executable, "-c", "from qwf_agent.cli import main; main()"]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["run", "nothing"], 1, "nothing"),
        (["run", "nothing@3"], 1, "nothing"),
        (["run", "w", "--context", "{"], 2, "not JSON"),
        (["run", "w", "--context", "[]"], 2, "JSON object"),
        (["run", "w", "--context", "@missing.json"], 2, "cannot read"),
        (["run", "w", "--set", "novalue"], 2, "key=value"),
        (["run", "w", "--context", '{"a": 1}', "--set", "a.b=2"], 2, "not an object"),
        (["run", "w", "--set", "a={b"], 2, "'\"{b\"'"),
        (["signal", "paid:1", "{id: 7}"], 2, "begins like JSON and is not JSON"),
        (["signal", "paid:1", " ['a']"], 2, "PAYLOAD"),
        (["alert", "set", "a", "{bad"], 2, "RULE: the text is not JSON"),
        (["run", "w", "--in", "soon"], 2, "not a duration"),
        (["queue", "create", "mail", "--retention", "7"], 2, "'7' has no unit"),
        (["settings", "retention", "7"], 1, "30 days"),
        (["run", "w", "--in", "1h", "--at", "2030-01-01 00:00"], 2, "not both"),
        (["run", "w", "--at", "tomorrow"], 2, "is not a time: write '2030-01-31'"),
        (["enqueue", "t", "--queue", "nowhere"], 1, "nowhere"),
        (["enqueue", "t", "--args", '"text"'], 2, "JSON object"),
        (["enqueue", "t", "--args", '{"a": NaN}'], 2, "NaN"),
        (["enqueue", "t", "--max-attempts", "0"], 2, "max-attempts"),
        (["show", "999"], 1, "999"),
        (["show", "99999999999999999999999"], 2, "range"),
        (["show", "abc"], 2, "abc"),
        (["job", "999"], 1, "999"),
        (["wait", "999"], 2, "qwf wait job 999"),
        (["wait", "run", "999"], 1, "999"),
        (["wait", "job", "999"], 1, "999"),
        (["why", "999"], 1, "999"),
        (["logs", "999"], 1, "999"),
        (["retry", "run", "999"], 1, "999"),
        (["retry", "job", "999"], 1, "999"),
        (["answer", "999", "pick"], 2, "RUN NODE VALUE"),
        (["answer", "999", "pick", "--true"], 2, "no such option '--true': put -- before"),
        (["answer", "999", "pick", "-5"], 1, "run 999"),
        (["answer", "999", "pick", "--", "--true"], 1, "run 999"),
        (["jobs", "--since", "soon"], 2, "not a time"),
        (["submit"], 2, "ARGV"),
        (["enqueue", "t", "--backoff", "["], 2, "JSON"),
        (["cancel", "run", "999"], 1, "999"),
        (["cancel", "job", "999"], 1, "999"),
        (["cancel", "run"], 2, "Give ids"),
        (["answer", "999", "pick", "1"], 1, "999"),
        (["apply", "missing"], 2, "missing"),
        (["jobs", "--status", "odd"], 2, "odd"),
        (["frobnicate"], 2, "frobnicate"),
        (["list"], 2, "qwf jobs"),
        (["workr"], 2, "worker"),
        (["run", "w", "--qeue"], 2, "--qeue"),
        (["limit", "create", "x", "99999999999"], 2, "2147483647"),
        (["enqueue", "t", "--priority", "99999999999"], 2, "2147483647"),
        (["enqueue", "t", "--args", '{"a": 1, "a": 2}'], 2, "'a' stands twice"),
        (["enqueue", "t", "--args", '{"a": 1e400}'], 2, "too large"),
        (["enqueue", "t", "--args", f'{{"a": {"9" * 5000}}}'], 2, "5000 digits"),
        (["enqueue", "t", "--args", f'{{"a": {"[" * 50000}{"]" * 50000}}}'], 2, "nested too deep"),
        (["run", "w", "--args", '{\n"a": 1,\n}'], 2, "line 3 column 1"),
        (["enqueue", "t", "--args", '{"a": "\\\\\\u0000"}'], 2, "NUL"),
        (["enqueue", "t", "--args", '{"a": "\\ud800"}'], 2, "surrogate"),
        (["enqueue", "t", "--set", "a=\udcff"], 2, "UTF-8"),
        (["jobs", "--task", "\udcff"], 2, "UTF-8"),
        (["alert", "set", "a", "@missing.json"], 2, "RULE: cannot read missing.json"),
        (["jobs", "--since", "20000 years"], 2, "out of range; give less"),
        (["enqueue", "t", "--timeout", "3000000 years"], 1, "timeout: positive, at most a year"),
        (["schedule", "add", "s", "--task", "t", "--set", "novalue"], 2, "key=value"),
        (["enqueue", "t", "--set", "a=1", "--set", "a.b=2"], 2, "not an object"),
        (["enqueue", "t", "--once"], 1, "once: needs a key"),
        (["run", "w", "--once"], 1, "once: needs a key"),
        (["run", "w", "--key", ""], 1, "qwf run greet --set who=Ada"),
        (["enqueue", "t", "--queue", "nowhere"], 1, "qwf queue create name"),
        (["enqueue", "t", "--limit-by", "mail"], 1, "qwf limit create mail 2"),
        (["limit", "create", "a b", "2"], 1, "qwf queue create gpu --max-running 2"),
        (["limit", "drop", "zzzzzz"], 1, "qwf limits"),
        (["show", "999"], 1, "lists runs: qwf runs"),
        (["why", "999"], 1, "lists jobs: qwf jobs"),
        (["schedule", "drop", "zzzzzz"], 1, "list them: qwf schedules"),
    ],
)
def test_bad_input_is_explained(on_db: Cli, words: list[str], code: int, says: str) -> None:
    result = on_db(*words)
    assert result.exit_code == code, result.output
    assert says in result.stderr
    assert "Traceback" not in result.output
    assert not re.search(r"select (\* from )?qwf\.", result.output), "here is a command for it"


READS = [
    *(["runs"], ["show", "1"], ["jobs"], ["job", "1"], ["inputs"], ["tick"], ["run", "w"]),
    *(["why", "1"], ["logs", "1"], ["queues"], ["workers"], ["schedules"], ["wait", "job", "1"]),
]


@pytest.mark.parametrize("words", [*READS, ["enqueue", "t"], ["migrate", "status"]])
def test_without_an_address_it_says_what_to_do(qwf: Cli, words: list[str]) -> None:
    result = qwf(*words)
    assert result.exit_code == 78
    assert "qwf up" in result.stderr


@pytest.mark.parametrize("words", [*READS, ["enqueue", "t"], ["migrate", "status"]])
def test_a_server_that_is_down_exits_69(qwf: Cli, words: list[str], tmp_path: Path) -> None:
    result = qwf(*words, "--dsn", f"host={tmp_path} port=1 dbname=none user=nobody")
    assert result.exit_code == 69, result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("words", READS)
def test_a_database_without_the_schema_exits_78(qwf: Cli, empty_dsn: str, words: list[str]) -> None:
    result = qwf(*words, "--dsn", empty_dsn)
    assert result.exit_code == 78
    assert "qwf migrate deploy" in result.stderr


def test_a_nonsense_address_exits_78(qwf: Cli) -> None:
    assert qwf("runs", "--dsn", "nonsense").exit_code == 78


def test_only_an_argument_is_called_one(qwf: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a text from elsewhere that an ASCII protocol does not take."""
    monkeypatch.setattr("qwf_agent.config.find_dsn", lambda flag: "pässwört".encode("ascii"))
    result = qwf("runs")
    assert result.exit_code == 1
    assert "argument" not in result.stderr
    assert "UnicodeEncodeError" in result.stderr


def test_a_bug_prints_one_line(qwf: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qwf_agent.config.find_dsn", lambda flag: 1 / 0)
    result = qwf("runs")
    assert result.exit_code == 1
    assert "ZeroDivisionError" in result.stderr
    assert "QWF_DEBUG" in result.stderr


def test_a_closed_pipe_is_not_an_error(dsn: str, db: psycopg.Connection[Any]) -> None:
    db.execute("select qwf.enqueue('t') from generate_series(1, 300)")
    command = subprocess.Popen(
        [*ENTRY, "jobs", "--json", "--dsn", dsn], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert command.stdout is not None
    assert command.stderr is not None
    command.stdout.read(10)
    command.stdout.close()
    said = command.stderr.read().decode()
    command.wait(30)
    assert "Traceback" not in said
    assert "error" not in said


FULL = "74 error: cannot write: No space left on device"


@pytest.mark.parametrize("verb", ["jobs --json", "doctor"])
def test_a_closed_or_full_output_is_no_bug(on_db: Cli, verb: str) -> None:
    """The verdict of a command stays its exit code if nobody wants to read it; what cannot be
    written is told."""
    whole = " ".join(map(shlex.quote, ENTRY)) + f" {verb}"
    plain, closed, full, both = (
        subprocess.run(
            ["bash", "-c", f"({whole} {where}); echo $?"], capture_output=True, text=True
        )
        for where in (">/dev/null", ">&-", ">/dev/full", ">/dev/full 2>/dev/full")
    )
    assert (closed.stdout, closed.stderr) == (plain.stdout, plain.stderr)
    assert f"{full.stdout.strip()} {full.stderr.strip().splitlines()[-1]}" == FULL
    assert (both.stdout.strip(), both.stderr) == ("74", "")


# What each says when it is ready, and its exit code after SIGTERM.
LONG = {
    "events -f": (None, 143), "run welcome --watch": ("", 143),
    "logs -f 1": (None, 143), "wait run 1": (None, 143), "wait job 1": (None, 143),
    "metrics --listen 127.0.0.1:0": ("", 0), "web --port 0": ("", 0),
}  # fmt: skip


@pytest.mark.parametrize("verb", LONG)
def test_sigterm_ends_every_long_verb(
    applied: Cli, db: psycopg.Connection[Any], dsn: str, verb: str
) -> None:
    """As process 1 of a container, which the kernel spares signals without a handler, if this user
    may make one."""
    applied("run", "welcome")
    db.execute("select qwf.enqueue('t')")
    own = ["unshare", "--pid", "--fork", "--kill-child"]
    if subprocess.run([*own, "true"], stderr=subprocess.DEVNULL).returncode:
        own = []
    query = "select count(*) filter (where pid <> all(%s)) from pg_stat_activity where backend_type"
    query += " = 'client backend' and application_name = 'qwf'"
    before = [pid for (pid,) in db.execute("select pid from pg_stat_activity").fetchall()]
    command = subprocess.Popen(
        [*own, *ENTRY, *verb.split()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    ready, code = LONG[verb]
    assert command.stdout is not None
    try:
        if ready is not None:
            next(line for line in command.stdout if ready in line)
        else:
            until(lambda: db.execute(query, (before,)).fetchone() != (0,), f"{verb} to connect")
        children = Path(f"/proc/{command.pid}/task/{command.pid}/children").read_text().split()
        os.kill(int(children[0]) if own else command.pid, signal.SIGTERM)
        said = command.stdout.read()
        assert (command.wait(30), "bug" in said) == (code, False), said
    finally:
        command.kill()
        command.wait()


def test_ctrl_c_while_waiting_exits_130(applied: Cli, dsn: str) -> None:
    run = applied("run", "welcome").stdout.strip()
    watching = subprocess.Popen(
        [*ENTRY, "run", "welcome", "--watch", "--dsn", dsn],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert watching.stdout is not None
    watching.stdout.readline()
    os.kill(watching.pid, 2)
    _, said = watching.communicate(timeout=60)
    assert watching.returncode == 130
    assert f"run {int(run) + 1} continues" in said.decode()


def test_colours_are_for_terminals(applied: Cli) -> None:
    run = applied("run", "welcome").stdout.strip()
    assert "\x1b" not in applied("show", run).stdout
    assert "\x1b" not in applied("runs").stdout


def test_control_characters_do_not_reach_the_terminal(
    on_db: Cli, db: psycopg.Connection[Any]
) -> None:
    evil = "a\x1b]0;owned\x07\x1b[2J\x9b\u202eb"
    call = "select qwf.enqueue(%s, queue => 'cpu', model => %s)"
    ((job,),) = db.execute(call, [evil, evil]).fetchall()
    for words in (["jobs"], ["job", str(job)], ["why", str(job)], ["cancel", "job", str(job)]):
        said = on_db(*words)
        assert not set("\x1b\x07\x9b\u202e") & set(said.output), words
    for words in (["jobs"], ["job", str(job)]):
        assert "a\u241b]0;owned\u2407\u241b[2J" in on_db(*words).stdout
    assert json.loads(on_db("job", str(job), "--json").stdout)["job"]["task"] == evil
    terminal = Terminal(force_terminal=True, width=80)
    with terminal.capture() as drawn:
        terminal.print(Text(evil, "red"))
    assert drawn.get().startswith("\x1b[31ma\u241b")


def test_no_color_is_respected(on_db: Cli, dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def said() -> str:
        return CliRunner().invoke(command, ["show", "999", "--dsn", dsn], color=True).stderr

    assert "\x1b[" in said()
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in said()


@pytest.mark.parametrize(
    ("line", "wanted"),
    [("wor", "workers"), ("worker dr", "drain"), ("retry job --fa", "--failed"), ("to", "top")],
)
def test_the_shell_completes(line: str, wanted: str) -> None:
    words = ["qwf", *line.split()]
    done = subprocess.run(
        ENTRY,
        env={**os.environ, "_QWF_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words),
             "COMP_CWORD": str(len(words) - 1)},
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert wanted in [line.partition(",")[2] for line in done.stdout.splitlines()], done.stderr


def test_every_command_has_help_with_an_example(qwf: Cli) -> None:
    top = qwf("--help").stdout
    assert "First steps" in top
    for name in command.list_commands(click.Context(command)):
        assert f"  {name} " in top
        if name not in ("version", "agent"):
            assert "Example:" in qwf(name, "--help").stdout, name


def helps(of: click.Command, words: list[str]) -> Iterator[tuple[str, str]]:
    """Every line of the help of a command and its subcommands."""
    said = CliRunner().invoke(command, [*words, "--help"], terminal_width=80).stdout
    yield from ((" ".join(words), line) for line in said.splitlines())
    if isinstance(of, click.Group):
        for name in of.list_commands(click.Context(of)):
            below = of.get_command(click.Context(of), name)
            assert below is not None
            yield from helps(below, [*words, name])


def test_help_fits_80_columns_and_is_not_cut() -> None:
    lines = [(words, line) for words, line in helps(command, []) if "Usage:" not in line]
    assert [one for one in lines if len(one[1]) > 80 or one[1].endswith("...")] == []


HEAVY = ("qwf_agent.agent", "qwf_agent.child", "yoyo", "numpy", "textual")


@pytest.mark.parametrize(
    "words",
    [["runs"], ["queues"], ["worker", "off", "--queue", "cpu"], ["enqueue", "t"], ["prune"]],
)
def test_commands_import_neither_the_agent_nor_anything_heavy(dsn: str, words: list[str]) -> None:
    script = (
        "import sys\nfrom qwf_agent.cli import qwf\n"
        f"try:\n    qwf({words!r})\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "QWF_DSN": dsn},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert "qwf_agent.look.draw" in loaded
    for module in HEAVY:
        assert module not in loaded


ADMIN = [
    *(["queues"], ["workers"], ["worker", "off", "--queue", "cpu"], ["worker", "load", "flux"]),
    *(["jobs"], ["job", "1"], ["why", "1"], ["cancel", "job", "1"], ["retry", "job", "1"]),
    *(["doctor"], ["metrics"], ["tick"], ["prune"], ["limits"], ["schedules"], ["runs"]),
    *(["enqueue", "boom"], ["queue", "pause", "cpu"], ["migrate", "status"], ["inputs"]),
]


def test_administration_imports_no_user_code(dsn: str, tmp_path: Path) -> None:
    """A broken app in the configuration must not stop the operator."""
    (tmp_path / "boom.py").write_text("raise SystemExit('imported')")
    (tmp_path / "qwf.toml").write_text('[agent]\napp = "boom:app"\nnodes = "boom"\n')
    script = (
        "import sys\nfrom qwf_agent.cli import qwf\n"
        f"for words in {[['enqueue', 'boom'], *ADMIN]!r}:\n"
        "    try:\n        qwf(words)\n"
        "    except SystemExit as end:\n        assert end.code in (0, 1), (words, end.code)\n"
        "print('loaded', *sys.modules)"
    )
    said = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, text=True, capture_output=True, check=True,
        env={**os.environ, "QWF_DSN": dsn, "QWF_APP": "boom:app", "QWF_NODES": "boom"},
    ).stdout  # fmt: skip
    loaded = said.splitlines()[-1].split()
    assert loaded[0] == "loaded"
    assert "boom" not in loaded


def test_the_agent_refuses_to_start_without_anything_to_run(on_db: Cli) -> None:
    result = on_db("agent", "--queue", "cpu")
    assert result.exit_code == 78
    assert "--nodes" in result.stderr


def test_errors_wrap_between_words(dsn: str) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    subprocess.run(
        [*ENTRY, "show", "999"], env={**environment, "QWF_DSN": dsn}, stderr=theirs, check=False
    )
    os.close(theirs)
    with open(ours, "rb", buffering=0) as terminal:
        said = re.sub(r"\x1b\[[0-9;]*m", "", terminal.read(4096).decode()).split("\r\n")
    assert max(map(len, said)) <= 60
    assert said[0] == "error: no such run"
    assert said[-2].startswith("      ")
    assert said[-2].endswith(" lists runs: qwf runs")


def test_the_version_is_a_command_and_an_option(qwf: Cli) -> None:
    for words in (["version"], ["--version"]):
        assert qwf(*words).stdout == f"{__version__}\n"


def test_a_signal_that_comes_while_a_pipeline_is_left_ends_the_verb() -> None:
    def run() -> None:
        try:
            sys.exit(143)
        finally:
            raise psycopg.OperationalError("cannot exit pipeline mode while busy")

    assert errors.guarded(run) == 143
