"""`qwf metrics`: metrics of the whole fleet for Prometheus, read from the database on scrape."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

import click
import psycopg
from psycopg.pq.abc import PGresult

from qwf_agent import config
from qwf_agent.cli import errors, scrapes
from qwf_agent.look import connection, hints
from qwf_agent.look.connection import Connection
from qwf_agent.look.draw.visible import visible

STATEMENT_TIMEOUT = "10s"  # so that slow scrapes do not pile up


class Fleet:
    """Reads qwf.metrics_text at every scrape, one at a time. Without a database, qwf_up is 0."""

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._conn: Connection | None = None
        self.failure: psycopg.Error | None = None  # the last scrape has no figures
        self.left_out: list[tuple[str, str | None]] = []  # why some are missing, and what helps
        self._one_at_a_time = threading.Lock()

    def text(self) -> str:
        """Every metric. What the database could not read is left out, and counted."""
        with self._one_at_a_time:
            return visible("".join(self._read()))

    def _read(self) -> Iterator[str]:
        self.failure, self.left_out = None, []
        figures = [_unreadable(0)]
        try:
            if self._conn is None or self._conn.closed:
                self._conn = self._connect()
                self._conn.add_notice_handler(self._note)
            figures = self._figures(self._conn)
            up = 1
        except (psycopg.Error, config.ConfigError):
            self._conn, up = None, 0
        yield from figures
        yield _gauge("qwf_up", "1 while the database answers.", up)

    def _figures(self, conn: Connection) -> list[str]:
        try:
            found = conn.execute("select lines from qwf.metrics_text order by name, place").pgresult
            return [] if found is None else [_text_of(found)]
        except psycopg.Error as error:
            if conn.closed:
                raise
            self.failure = error
            return [_unreadable(1)]

    def _note(self, said: psycopg.errors.Diagnostic) -> None:
        self.left_out.append((said.message_primary or "", hints.of(said)))


def _text_of(found: PGresult) -> str:
    """The first column as the server sent it: to make rows of it would take as long as the rest."""
    return b"".join(found.get_value(row, 0) or b"" for row in range(found.ntuples)).decode()


def _gauge(name: str, about: str, value: float) -> str:
    figure = "+Inf" if value == float("inf") else repr(float(value))
    return f"# HELP {name} {about}\n# TYPE {name} gauge\n{name} {figure}\n"


def _unreadable(count: int) -> str:
    about = "Queries that failed in this scrape, or that this login may not make."
    return _gauge("qwf_unreadable", about, count)


@click.command()
@click.option(
    "--listen",
    metavar="[ADDRESS]:PORT",
    help="Serve over HTTP until interrupted. ADDRESS defaults to 127.0.0.1; 0.0.0.0: for all.",
)
@connection.dsn_option
def metrics(listen: str | None, dsn: str | None) -> None:
    """Print or serve metrics of the fleet for Prometheus.

    One server is enough for the whole fleet: everything is read from the database. It asks for no
    password, and its figures name hosts, queues and tasks.

    \b
    Example:  qwf metrics | grep qwf_queue
              qwf metrics --listen :9187          (for this box only)
              qwf metrics --listen 0.0.0.0:9187   (for every box that can connect)
    """
    address = config.find_dsn(dsn)

    def connect() -> Connection:
        conn = connection.connect(address, notices=False)
        conn.execute("select set_config('statement_timeout', %s, false)", (STATEMENT_TIMEOUT,))
        return conn

    fleet = Fleet(connect)
    if listen is None:
        connect().close()  # without a database, fail as every command does
        click.echo(fleet.text(), nl=False)
        if fleet.failure:  # so that figures that are missing do not pass for all
            raise fleet.failure
        if fleet.left_out:
            (first, hint), *others = fleet.left_out
            errors.fail(first, hint, details=[message for message, _ in others])
        return
    host, port = _split(listen)
    try:
        server = scrapes.listen(host, port, fleet.text)
    except OSError as error:
        errors.fail(f"cannot listen on {listen}: {error.strerror or error}")
    with server, contextlib.suppress(KeyboardInterrupt):  # asked to stop
        click.echo(f"http://{host}:{server.server_address[1]}/metrics", err=True)
        server.serve_forever()


def _split(listen: str) -> tuple[str, int]:
    host, _, port = listen.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise click.BadParameter(f"--listen {listen}: write ADDRESS:PORT, like 127.0.0.1:9187")
    return host.strip("[]") or "127.0.0.1", int(port)
