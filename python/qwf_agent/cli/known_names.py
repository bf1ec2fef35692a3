"""Names that a person typed, compared with those that the database knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
import psycopg

from qwf_agent import config
from qwf_agent.cli import connection
from qwf_agent.cli.connection import Connection
from qwf_agent.cli.draw.visible import visible

if TYPE_CHECKING:
    from typing_extensions import LiteralString

MAX_LISTED = 20
# Whatever else is called a queue, a workflow or a model server does not exist.
COMPLETE: dict[str, LiteralString] = {
    "queue": "select q.name from qwf.queues q",
    "workflow": "select distinct w.name from qwf.workflows w",
    "server": "select distinct w.host || '/' || (s.value ->> 'name') as name"
    " from qwf.workers w, jsonb_array_elements(w.servers) s",
}
# There may be others: a host that comes later, a task that no worker has any more.
SEEN: dict[str, LiteralString] = {
    "host": "select distinct w.host as name from qwf.workers w",
    "task": "select distinct c.task as name from qwf.hourly_counts c"
    " union select unnest(w.tasks) from qwf.workers w",
    "worker": "select w.id as name from qwf.workers w",
}
# What all live workers of a queue have together; no row if there are none, or one takes anything.
ABLE: dict[str, LiteralString] = {
    "task": """
select array_agg(distinct t.name) as names
from qwf.fleet f join qwf.workers w on w.id = f.worker
left join lateral unnest(w.tasks) t (name) on true
where f.queue = %s and f.state not in ('dead', 'stopped')
having bool_and(w.tasks is not null)
""",
    "model": """
select array_agg(distinct m.name) as names
from qwf.fleet f join qwf.workers w on w.id = f.worker
left join lateral unnest(w.models) m (name) on true
where f.queue = %s and f.state not in ('dead', 'stopped')
having bool_and(w.models is not null)
""",
}
# The paths of the context that the workflow of a run reads, without the run's context.
READ: LiteralString = """
select distinct p.path
from qwf.runs r
join qwf.graphs g on g.id = r.graph_id
left join qwf.graph_nodes n on n.graph_id = g.id
cross join lateral jsonb_path_query(
  jsonb_build_array(g.context_checks, to_jsonb(n)), 'strict $.**."$from"') p (path)
where r.id = %s and p.path ->> 0 = '$context'
"""


@dataclass(frozen=True)
class TypedName(connection.Unread):
    """The name of a queue or a workflow, as it was typed."""

    kind: str
    text: str
    option: str

    def read(self, conn: Connection) -> str:
        """The name. Raises click.BadParameter if there is nothing of that name."""
        check(conn, self.kind, self.text, self.option)
        return self.text


class Name(click.ParamType[Any]):
    """The name of a queue or a workflow that exists."""

    def __init__(self, kind: str) -> None:
        self.name = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: Any) -> Any:
        """The text, to be looked up once there is a connection."""
        return TypedName(self.name, value, param.opts[0] if param else "")


def check(conn: Connection, kind: str, name: str, option: str) -> None:
    """Raise click.BadParameter unless there is a queue, workflow or server of this name."""
    known = _names(conn, COMPLETE[kind])
    if name not in known:
        text = f"there is no {kind} {name!r}" + (
            _meant(name, known) or f"; there are: {', '.join(sorted(known)[:MAX_LISTED]) or 'none'}"
        )
        raise click.BadParameter(text, param_hint=option)


def nearest(conn: Connection, kind: str, name: str) -> str | None:
    """What was probably meant by the name of a host, task or worker that is not known."""
    known = _names(conn, SEEN[kind])
    return None if name in known else config.close_to(name, known)


def note_unseen(conn: Connection, **names: str | None) -> None:
    """Say on standard error which of these names was never seen. Nothing was found for them."""
    for kind, name in names.items():
        if name is not None and name not in (known := _names(conn, SEEN[kind])):
            _note(f"no {kind} {name!r} has been seen{_meant(name, known)}")


def note_unable(conn: Connection, queue: str | None, **names: str | None) -> None:
    """Say on standard error that workers serve the queue, but none has this task or model.

    A login that may not read the workers is told nothing.
    """
    queue = queue or "default"
    for kind, name in names.items():
        try:
            found = connection.many(conn, ABLE[kind], (queue,)) if name is not None else []
        except psycopg.errors.InsufficientPrivilege:
            return
        for row in found:
            known = [one for one in row["names"] if one is not None]
            if name is not None and name not in known:
                _note(f"no live worker of queue {queue} has {kind} {name!r}{_meant(name, known)}")


def note_unread(conn: Connection, run: int, context: dict[str, Any]) -> None:
    """Say on standard error what the workflow of the run does not read of the context, if it looks
    like something that it reads and that is missing. Other keys may be there on purpose.

    A login that may not read definitions is told nothing.
    """
    try:
        found = connection.many(conn, READ, (run,)) if context else []
    except psycopg.errors.InsufficientPrivilege:
        return
    for path, meant in _unread(context, [tuple(row["path"][1:]) for row in found]):
        _note(f"the workflow does not read {path!r} of the context: did you mean {meant!r}?")


def _unread(
    value: dict[str, Any], read: list[tuple[Any, ...]], place: str = ""
) -> Iterator[tuple[str, str]]:
    """The path of each unread key that looks like a missing one, and of the missing one."""
    if any(not path or not isinstance(path[0], str) for path in read):  # it reads everything here
        return
    missing = {path[0] for path in read} - value.keys()
    for key, inner in value.items():
        below = [path[1:] for path in read if path[0] == key]
        if isinstance(inner, dict) and below:
            yield from _unread(inner, below, f"{place}{key}.")
        elif not below and (meant := config.close_to(key, missing)):
            yield f"{place}{key}", f"{place}{meant}"


def _names(conn: Connection, query: LiteralString) -> list[str]:
    return [row["name"] for row in connection.many(conn, query)]


def _meant(name: str, known: Iterable[str]) -> str:
    near = config.close_to(name, known)
    return f": did you mean {near!r}?" if near else ""


def _note(text: str) -> None:
    click.echo(f"note: {visible(text)}", err=True)
