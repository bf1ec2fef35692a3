"""`qwf worker-check`: checks a worker that is written in any language."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from qwf_agent import config
from qwf_agent.cli import errors, output
from qwf_agent.cli.worker_check import leases, orders, outcomes, place, starting, stopping, telling
from qwf_agent.cli.worker_check.check import WorkerCheck
from qwf_agent.cli.worker_check.errors import Failed, NotStarted, Skipped
from qwf_agent.cli.worker_check.kit import Kit
from qwf_agent.cli.worker_check.place import Place
from qwf_agent.look import connection

CHECKS: tuple[WorkerCheck, ...] = (
    *starting.CHECKS, *outcomes.CHECKS, *telling.CHECKS, *leases.CHECKS, *orders.CHECKS,
    *stopping.CHECKS,
)  # fmt: skip
NAMES = [one.name for one in CHECKS]
QUEUE = "worker-check"
PAGE = "docs/clients.md"
SIGNS = {"passed": ("✓", "green"), "failed": ("✗", "red"), "skipped": ("-", "yellow")}
WIDTH = max(map(len, NAMES))

name = click.Choice(NAMES)


@dataclass(frozen=True)
class CheckResult:
    """How a check ended, and what was seen."""

    check: WorkerCheck
    result: str  # passed, failed or skipped
    seen: str
    seconds: float


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("--dsn", metavar="URL", help="Use this database, not a temporary server.")
@click.option(
    "--worker-dsn", metavar="URL",
    help="The worker connects so; its login must be its own. Default: as --dsn says.",
)  # fmt: skip
@click.option(
    "--queue",
    default=QUEUE,
    show_default=True,
    metavar="NAME",
    help="A queue for the checks alone.",
)
@click.option(
    "--skip",
    type=name,
    multiple=True,
    metavar="CHECK",
    help="Leave this check out; may be repeated.",
)
@click.option(
    "--only",
    type=name,
    multiple=True,
    metavar="CHECK",
    help="Make only this check; may be repeated.",
)
@click.option(
    "--log", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Append what the worker prints to this file.",
)  # fmt: skip
@click.option("--list", "as_list", is_flag=True, help="List the checks, and make none.")
@output.json_option
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def worker_check(
    dsn: str | None, worker_dsn: str | None, queue: str, skip: tuple[str, ...],
    only: tuple[str, ...], log: Path | None, as_list: bool, as_json: bool,
    command: tuple[str, ...],
) -> None:  # fmt: skip
    """Check a worker that is written in any language.

    The checks are about jobs, leases, orders, signals, progress and logs.

    COMMAND starts it, several times. {queue} and {dsn} in its words become the queue to serve and
    the address of the database; QWF_QUEUE, QWF_DSN and the variables PG* have them, too. It must
    offer the tasks check.echo and so on: docs/clients.md says what each does.

    Starts a temporary server with short times and removes it. With --dsn it uses that database
    (qwf_admin is needed) with its times: it ends its jobs and workers, and its queue stays.
    Exit 0 if nothing failed, else 1.

    \b
    Example:  qwf worker-check -- ./worker --queue {queue}
              qwf worker-check --only wakes -- node worker.mjs {queue}
    """
    if as_list:
        _list(as_json)
        return
    if not command:
        raise click.UsageError("write the command that starts the worker: -- COMMAND")
    if worker_dsn is not None and dsn is None:
        raise click.UsageError("--worker-dsn needs --dsn")
    chosen = [one for one in CHECKS if not only or one.name in only]
    results: list[CheckResult] = []
    with _place(dsn, worker_dsn) as where:
        for result in _results(where, queue, command, log, chosen, skip):
            results.append(result)
            if not as_json:
                output.show(_drawn(result))
    if as_json:
        output.show_json([_as_json(one) for one in results])
    else:
        output.show(_summary(results))
    raise SystemExit(1 if any(one.result == "failed" for one in results) else 0)


@contextlib.contextmanager
def _place(dsn: str | None, worker_dsn: str | None) -> Iterator[Place]:
    if dsn is not None:
        address = config.find_dsn(dsn)
        yield place.named(address, worker_dsn)
        return
    with place.temporary() as found:
        yield found


def _results(
    where: Place, queue: str, argv: Sequence[str], log: Path | None, chosen: Sequence[WorkerCheck],
    skip: Sequence[str],
) -> Iterator[CheckResult]:  # fmt: skip
    """Make the checks, one after the other."""
    with (
        tempfile.TemporaryDirectory(prefix="qwf-worker-check-") as name,
        connection.connect(where.dsn, notices=False) as conn,
    ):
        folder = Path(name)
        folder.chmod(0o755)  # the worker may be another user
        kit = Kit(conn, where, queue, argv, folder, log or folder / "log")
        try:
            kit.open()
        except Failed as refused:
            errors.fail(str(refused))
        try:
            yield from _make_all(kit, chosen, skip)
        finally:
            kit.close()


def _make_all(
    kit: Kit, chosen: Sequence[WorkerCheck], skip: Sequence[str]
) -> Iterator[CheckResult]:
    starts = True
    for one in chosen:
        if one.name in skip:
            yield CheckResult(one, "skipped", "You left it out.", 0)
        elif not starts:
            yield CheckResult(one, "skipped", "The worker does not start.", 0)
        else:
            begun = time.monotonic()
            try:
                result, seen = "passed", one.make(kit)
            except Skipped as why:
                result, seen = "skipped", str(why)
            except Failed as why:
                result, seen = "failed", str(why)
                starts = not isinstance(why, NotStarted)
            if result != "passed" or kit.unended():
                kit.retire()  # the next check begins with a new worker
            yield CheckResult(one, result, seen, time.monotonic() - begun)


def _list(as_json: bool) -> None:
    if as_json:
        output.show_json([{"check": one.name, "about": one.about} for one in CHECKS])
        return
    for one in CHECKS:
        output.show(Text.assemble((f"{one.name:<{WIDTH}}", "bold"), f"  {one.about}"))


def _as_json(one: CheckResult) -> dict[str, object]:
    failed = one.result == "failed"
    return {
        "check": one.check.name, "about": one.check.about, "result": one.result, "seen": one.seen,
        "hint": one.check.hint if failed else None,
        "section": f"{PAGE}: {one.check.section}", "seconds": round(one.seconds, 3),
    }  # fmt: skip


def _drawn(one: CheckResult) -> RenderableType:
    sign, colour = SIGNS[one.result]
    head = Text.assemble(
        (f"{sign} ", colour),
        (f"{one.check.name:<{WIDTH}}", "bold"),
        f"  {one.result:<7}  ",
        one.seen,
    )
    if one.result != "failed":
        return head
    hint = f"→ {one.check.about}\n  {one.check.hint} ({PAGE}: {one.check.section})"
    return Group(head, Padding(Text(hint), (0, 0, 0, 4)))


def _summary(results: Sequence[CheckResult]) -> Text:
    counts = {kind: sum(one.result == kind for one in results) for kind in SIGNS}
    text = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    return Text(text, "bold red" if counts["failed"] else "bold green")
