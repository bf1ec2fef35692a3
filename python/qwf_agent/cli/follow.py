"""Commands and helpers that follow runs and jobs until they are over."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import click
import psycopg
from rich.live import Live

from qwf_agent.app import jobs
from qwf_agent.cli import addresses, arguments, commands, errors, output, server_log
from qwf_agent.cli.printed_log import PrintedLog
from qwf_agent.look import connection, draw
from qwf_agent.look.connection import Connection
from qwf_agent.system.exit_codes import INTERRUPTED

POLL_S = 0.25
EXIT_CODES = {"completed": 0, "skipped": 0, "failed": 1, "cancelled": 2}
TIMED_OUT = 124
MOST_FILES = 5  # of a run that are printed
FILES = """
select f.host, f.rel_path, f.out_dir, f.out_root, count(*) over () as files
from qwf.file_overview f
where f.run_id = %s
order by f.node_idx desc nulls last, f.job_id desc, f.file_no
limit %s
"""

give_up = click.option(
    "--timeout", type=arguments.duration, metavar="TIME",
    help="Give up after this time, with exit code 124: 90, 10min, 2h.",
)  # fmt: skip


@click.group(cls=commands.RunOrJob)
def wait() -> None:
    """Wait until runs or jobs are over.

    Exit 0 if all completed, 1 if one failed, 2 if one was cancelled, 124 on timeout.

    \b
    Example:  qwf wait run 12 && echo done
              qwf wait job 345 346 --timeout 10min
    """


@wait.command("run")
@click.argument("ids", type=arguments.ID, nargs=-1, required=True, metavar="RUN...")
@give_up
@addresses.database
def wait_run(conn: Connection, ids: tuple[int, ...], timeout: timedelta | None) -> None:
    """Wait until runs are over."""

    def look(run: int) -> str:
        return str(connection.call(conn, "run_status", run_id=run)["run"]["status"])

    raise SystemExit(_wait("run", ids, look, timeout))


@wait.command("job")
@click.argument("ids", type=arguments.ID, nargs=-1, required=True, metavar="JOB...")
@give_up
@addresses.database
def wait_job(conn: Connection, ids: tuple[int, ...], timeout: timedelta | None) -> None:
    """Wait until jobs are over."""

    def look(job: int) -> str:
        return str(connection.call(conn, "result", job_id=job)["status"])

    raise SystemExit(_wait("job", ids, look, timeout))


@click.command()
@click.argument("job", type=arguments.ID, required=False)
@click.option("--server", metavar="BOX/NAME", help="Of a model server: see qwf servers.")
@click.option("-f", "--follow", is_flag=True, help="Print what comes, until the job is over.")
@click.option(
    "-n", "lines", type=click.IntRange(1, arguments.MOST), metavar="LINES",
    help="Print only the last N lines.",
)  # fmt: skip
@click.option(
    "--attempt",
    type=click.IntRange(1, arguments.MOST),
    metavar="N",
    help="Which attempt. Default: the newest.",
)
@click.option("--stream", is_flag=True, help="What its body streams; with -f.")
@addresses.database
def logs(
    conn: Connection, job: int | None, server: str | None, follow: bool, lines: int | None,
    attempt: int | None, stream: bool,
) -> None:  # fmt: skip
    """Print the log of a JOB: the end of what its body printed.

    With -f, print output as it comes, until the job is over; exit 0 if it completed, 1 if it
    failed, 2 if it was cancelled. State and progress go to standard error. With --stream it is what
    the body gives to job.stream, and not the log.

    With --server, print the end of what a model server has printed. It comes with the
    heartbeats of the agent, and a server that prints more than 4 KiB between two of them loses
    some. With -f, go on until Ctrl-C, also when the server starts again.

    \b
    Example:  qwf logs 345
              qwf logs -f 345
              qwf logs --server box-a/vllm -f
    """
    if (job is None) == (server is None):
        raise click.UsageError("give either a JOB or --server BOX/NAME")
    if stream and not (job is not None and follow):
        raise click.UsageError("--stream goes with -f and a JOB")
    if server is not None:
        if attempt:
            raise click.UsageError("--attempt is for jobs, not for --server")
        _show_server_log(conn, server, follow, lines)
    elif job is not None and stream:
        raise SystemExit(_print_stream(conn, job))
    elif job is not None and follow:
        if lines:
            raise click.UsageError("-n goes with -f only for --server")
        raise SystemExit(_follow_log(conn, job))
    elif job is not None:
        _print_log(conn, job, attempt, lines)


def _show_server_log(conn: Connection, server: str, follow: bool, lines: int | None) -> None:
    try:
        server_log.show(conn, server, follow, lines)
    except KeyboardInterrupt:
        _interrupted("server", server)


def _print_log(conn: Connection, job: int, attempt: int | None, lines: int | None) -> None:
    row = connection.call(conn, "result", job_id=job)
    number = attempt or row["attempt"]
    if not number:
        errors.fail(f"job {job} has not started", f"qwf why {job}")
    printed = connection.call(conn, "read_log", job_id=job, attempt=number)
    if printed is None and _runs(row, number):
        errors.fail(f"attempt {number} of job {job} still runs", f"qwf logs -f {job}")
    if printed:
        shown = server_log.last_lines(printed, lines)
        click.echo(shown, nl=not printed.endswith("\n"))
    elif printed is None:
        click.echo(_no_log(job, number), err=True)
    else:
        click.echo(f"attempt {number} of job {job} printed nothing", err=True)


def _runs(row: dict[str, Any], attempt: int) -> bool:
    return bool(row["status"] == "running" and row["attempt"] == attempt)


def _no_log(job: int, attempt: int) -> str:
    return f"the worker of attempt {attempt} of job {job} sent no log of what it printed"


def watch(conn: Connection, run_id: int, as_json: bool = False) -> int:
    """Show progress until the run is over, as a tree on a terminal, else as lines; exit code."""
    try:
        if as_json:
            status = _follow(conn, run_id, lambda status: None)
            output.show_json(status)
        elif sys.stdout.isatty():
            status = _live(conn, run_id)
        else:
            status = _lines(conn, run_id)
        if not as_json:
            show_files(conn, run_id)
    except KeyboardInterrupt:
        _interrupted("run", run_id, f"qwf show {run_id}, or: qwf cancel run {run_id}")
    return EXIT_CODES[status["run"]["status"]]


def show_files(conn: Connection, run_id: int) -> None:
    """Print where the files of a run are, those of its last nodes first. A login that may not read
    them is told nothing."""
    try:
        found = connection.many(conn, FILES, (run_id, MOST_FILES))
    except psycopg.errors.InsufficientPrivilege:
        return
    for line in draw.files(sorted(found, key=lambda row: row["host"] or ""), run_id):
        click.echo(draw.visible(line))


def wait_and_print(conn: Connection, job: int, as_json: bool) -> int:
    """Wait until a job is over, print its log or its result as JSON; exit code."""
    try:
        while (result := connection.call(conn, "result", job_id=job))["status"] not in EXIT_CODES:
            time.sleep(POLL_S)
    except KeyboardInterrupt:
        _interrupted("job", job, f"qwf job {job}, or: qwf cancel job {job}")
    if as_json:
        output.show_json(result)
        return EXIT_CODES[result["status"]]
    printed = connection.call(conn, "read_log", job_id=job)
    if printed:
        click.echo(printed, nl=not printed.endswith("\n"))
    elif printed is None and result["attempt"]:
        click.echo(_no_log(job, result["attempt"]), err=True)
    if result["status"] != "completed":
        reason = draw.visible(result["error"] or "no reason given")
        click.echo(f"job {job} {result['status']}: {reason}", err=True)
    return EXIT_CODES[result["status"]]


def _wait(
    what: str, ids: Sequence[int], look: Callable[[int], str], limit: timedelta | None
) -> int:
    deadline = None if limit is None else time.monotonic() + limit.total_seconds()
    code = 0
    for number in ids:
        try:
            while (state := look(number)) not in EXIT_CODES:
                if deadline is not None and time.monotonic() >= deadline:
                    hint = f"qwf {'show' if what == 'run' else 'why'} {number}"
                    errors.fail(f"{what} {number} is not over yet", hint, TIMED_OUT)
                time.sleep(POLL_S)
        except KeyboardInterrupt:
            _interrupted(what, number)
        code = max(code, EXIT_CODES[state])
    return code


def _interrupted(what: str, number: int | str, hint: str | None = None) -> Any:
    errors.fail(f"interrupted; {what} {number} continues", hint, INTERRUPTED)


def _follow(
    conn: Connection, run_id: int, tell: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    while True:
        status: dict[str, Any] = connection.call(conn, "run_status", run_id=run_id)
        tell(status)
        if status["run"]["status"] in EXIT_CODES:
            return status
        time.sleep(POLL_S)


def _live(conn: Connection, run_id: int) -> dict[str, Any]:
    console = output.console()
    with Live(console=console, auto_refresh=False, transient=True) as live:
        status = _follow(
            conn,
            run_id,
            lambda status: live.update(draw.run(status, console.height - 1), refresh=True),
        )
    console.print(draw.run(status))
    return status


def _lines(conn: Connection, run_id: int) -> dict[str, Any]:
    before: dict[str, Any] | None = None

    def tell(status: dict[str, Any]) -> None:
        nonlocal before
        for line in draw.changes(before, status):
            click.echo(draw.visible(line))
        before = status

    return _follow(conn, run_id, tell)


def _print_stream(conn: Connection, job: int) -> int:
    """Print what the body streams as it comes until the job is over."""
    try:
        for part in jobs.stream(conn, job):
            if part.missed:
                click.echo(f"... {part.missed} bytes skipped ...", err=True)
            click.echo(draw.visible(part), nl=False)
    except KeyboardInterrupt:
        _interrupted("job", job)
    return EXIT_CODES[connection.call(conn, "result", job_id=job)["status"]]


def _follow_log(conn: Connection, job: int) -> int:
    """Print the body's output as it comes until the job is over; state to standard error."""
    printed = PrintedLog()
    shown: tuple[Any, ...] = ()
    try:
        while True:
            live = _live_log(conn, job)
            row = connection.call(conn, "result", job_id=job)
            _print_ended(conn, row, printed)
            if live and live["tail"] is not None and live["attempt"] > printed.ended:
                printed.print_live(live["attempt"], live["end_offset"], live["tail"])
            if (state := _visible_state(row)) != shown:
                click.echo(draw.visible(_state_line(row)), err=True)
                shown = state
            if row["status"] in EXIT_CODES:
                return EXIT_CODES[row["status"]]
            time.sleep(POLL_S)
    except KeyboardInterrupt:
        _interrupted("job", job)
    return 0


def _live_log(conn: Connection, job: int) -> dict[str, Any]:
    return connection.many(conn, "select * from qwf.follow_log(%s)", (job,))[0]


def _print_ended(conn: Connection, row: dict[str, Any], printed: PrintedLog) -> None:
    """Print the rest of the logs of attempts that have ended."""
    for attempt in range(printed.ended + 1, row["attempt"] + 1):
        log = connection.call(conn, "read_log", job_id=row["job_id"], attempt=attempt)
        if log is None and _runs(row, attempt):
            return
        printed.print_rest(attempt, log or "")
        if log is None:
            click.echo(_no_log(row["job_id"], attempt), err=True)


def _visible_state(row: dict[str, Any]) -> tuple[Any, ...]:
    """A state line is printed when this changes; progress counts in steps of 10 %."""
    return row["status"], row["attempt"], int((row["progress"] or 0) * 10)


def _state_line(row: dict[str, Any]) -> str:
    parts = [f"job {row['job_id']} {str(row['status']).replace('_', ' ')}"]
    if row["status"] == "running":
        parts.append(f"attempt {row['attempt']} on {row['worker']}")
        if row["progress"] is not None:
            parts.append(f"{row['progress']:.0%} {row['message'] or ''}".rstrip())
    return ", ".join(parts)
