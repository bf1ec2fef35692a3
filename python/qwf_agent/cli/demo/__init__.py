"""`qwf demo`: the example on one machine: photographs in, a question each, pictures out."""

from __future__ import annotations

import contextlib
import sys
import time
from pathlib import Path

import click

from qwf_agent import config, embedded
from qwf_agent.cli import definition_files, errors, output
from qwf_agent.cli.demo import page, photos, results
from qwf_agent.cli.demo.agents import Agents
from qwf_agent.cli.demo.following import follow
from qwf_agent.look import connection, draw
from qwf_agent.look.connection import Connection

WORKFLOW = "streetview_inspect"

folder = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command()
@click.option(
    "--photos",
    "own",
    type=folder,
    metavar="DIR",
    help="Use these photographs, not scikit-image's; x_left and x_right are a stereo pair.",
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=12,
    show_default=True,
    metavar="N",
    help="Use at most N photographs.",
)
@click.option(
    "--yes",
    is_flag=True,
    help="Do not ask, take the best detection. The default without a terminal.",
)
@click.option(
    "--answer-after",
    type=click.FloatRange(1),
    default=60,
    show_default=True,
    metavar="SECONDS",
    help="Take the best detection if nobody answers within this time.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Folder for the results. Default: ~/.qwf/demo (or $QWF_HOME/demo).",
)
@click.option(
    "--example", type=folder, metavar="DIR", help="Folder of the example, if it is not found."
)
@click.option("--no-page", is_flag=True, help="Start no page for the browser.")
@click.option("--dsn", metavar="URL", help="Use this database instead of one under ~/.qwf.")
def demo(
    own: Path | None, limit: int, yes: bool, answer_after: float,
    out: Path | None, example: Path | None, no_page: bool, dsn: str | None,
) -> None:  # fmt: skip
    """See qwf work on real photographs.

    Finds objects in photographs, asks you to choose one, and makes a relief of it.

    Starts your own Postgres (like `qwf up`), a cpu and a gpu agent, a page for your browser (like
    `qwf web`), and one run for each photograph. Answer the questions here or on the page. Server
    and page keep running afterwards: look around on the page, or with `qwf runs` and `qwf show`;
    stop both with `qwf down`.

    \b
    Example:  qwf demo --photos ~/Pictures
    """
    started = time.monotonic()
    chosen = _chosen(own, limit)
    source = _example(example)
    target = (out or config.home() / "demo").expanduser().absolute()
    target.mkdir(parents=True, exist_ok=True)
    address = config.find_dsn(dsn) if dsn else _server()
    asking = sys.stdin.isatty() and sys.stdout.isatty() and not yes
    with connection.connect(address) as conn:
        definition_files.register(conn, definition_files.load(source / "definitions"))
        link = None if no_page else _page(address, target)
        with Agents(address, source, config.home() / "logs") as agents:
            click.echo(f"agents for cpu and gpu, logs in {agents.logs}")
            with conn.transaction():
                names = {_enqueue(conn, photo, target): photo.name for photo in chosen}
            try:
                statuses = follow(
                    conn, names, agents, answer_after if asking else None, link is not None
                )
            except BaseException:
                _cancel(conn, names)
                raise
        complete = results.report(conn, statuses, names, target)
    _say_goodbye(time.monotonic() - started, max(names), link, dsn is None)
    raise SystemExit(0 if complete else 1)


def _chosen(own: Path | None, limit: int) -> list[photos.Photo]:
    found = photos.own(own.absolute()) if own else photos.shipped()
    first = f", taking the first {limit} (--limit)" if len(found) > limit else ""
    click.echo(f"{len(found)} photographs in {found[0].path.parent}{first}")
    return found[:limit]


def _example(given: Path | None) -> Path:
    """Folder of the street-view example: as given, in the checkout, or in the wheel."""
    package = Path(__file__).resolve().parents[2]
    roots = (package.parents[1], package)
    folders = [given] if given else [root / "examples" / "streetview" for root in roots]
    found = next((folder for folder in folders if (folder / "definitions").is_dir()), None)
    if found is None:
        errors.fail("the example was not found", "run the demo from a checkout, or give --example")
    return found.absolute()


def _server() -> str:
    from qwf_agent import migrate

    with output.console().status("starting Postgres") as status:
        address = embedded.up(config.home())
        migrate.deploy(address, say=lambda line: status.update(f"deploying {line.strip('+ ')}"))
    click.echo(f"Postgres under {config.home()}")
    return address


def _page(address: str, files: Path) -> str | None:
    """The link of a page for this database, which is said; None if there is no page."""
    with output.console().status("starting the page"):
        try:
            link = page.start(config.home(), address, files)
        except page.PageFailed as error:
            click.echo(f"no page for your browser: {error}")
            return None
    click.echo(f"watch it in your browser:\n{link}")
    return link


def _say_goodbye(seconds: float, run: int, link: str | None, own_server: bool) -> None:
    click.echo(f"\nIt took {draw.duration(seconds)}. ", nl=False)
    kept = [*(["the server"] if own_server else []), *(["the page"] if link else [])]
    if kept:
        keep = f"{' and '.join(kept)} {'keep' if len(kept) > 1 else 'keeps'} running"
        click.echo(f"{keep[0].upper()}{keep[1:]}. Stop {'them' if len(kept) > 1 else 'it'}: "
                   "qwf down")  # fmt: skip
    click.echo(f"Look around: qwf runs, qwf show {run}" + (", or in your browser:" if link else ""))
    if link:
        click.echo(link)


def _enqueue(conn: Connection, photo: photos.Photo, target: Path) -> int:
    given = {"path": str(photo.path), **({"right": str(photo.right)} if photo.right else {})}
    context = {"photo": given}
    run: int = connection.call(
        conn, "enqueue_run", workflow=WORKFLOW, context=context, out_dir=str(target)
    )
    return run


def _cancel(conn: Connection, names: dict[int, str]) -> None:
    """Cancel unfinished runs. The agents are stopped next, so it does not wait."""
    with contextlib.suppress(Exception):
        for run in names:
            status = connection.call(conn, "run_status", run_id=run)["run"]["status"]
            if status not in draw.OVER:
                connection.call(conn, "cancel_run", run_id=run, reason="the demo was interrupted")
