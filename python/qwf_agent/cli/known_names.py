"""Names that a person typed, compared with those that the database knows."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
import psycopg

from qwf_agent import config
from qwf_agent.cli import addresses
from qwf_agent.look import connection
from qwf_agent.look.connection import Connection
from qwf_agent.look.draw.visible import visible

if TYPE_CHECKING:
    from typing_extensions import LiteralString

    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # has no parameter before click 8.4

MAX_LISTED = 20
NAMES: LiteralString = "select n.name from qwf.known_names n where n.kind = %s"
# What all live workers of a queue have together; no row if there are none, or one takes anything.
ABLE: dict[str, LiteralString] = {
    "task": """
select array_agg(distinct t.name) as names
from qwf.worker_overview w
left join lateral unnest(w.tasks) t (name) on true
where w.queue = %s and w.state not in ('dead', 'stopped')
having bool_and(w.tasks is not null)
""",
    "model": """
select array_agg(distinct m.name) as names
from qwf.worker_overview w
left join lateral unnest(w.models) m (name) on true
where w.queue = %s and w.state not in ('dead', 'stopped')
having bool_and(w.models is not null)
""",
}
# What the nodes of a run need, each need once, with the first node that has it.
NEEDED: LiteralString = """
select n.queue, n.task, n.required_model as model, min(n.node_id) as node,
  n.project, coalesce(f.served, false) as served, f.served is not null as live
from qwf.job_details n
left join lateral (
  select bool_or(w.project is null or w.project = n.project) as served
  from qwf.worker_overview w
  where w.queue = n.queue and w.state not in ('dead', 'stopped')) f on true
where n.run_id = %s and n.queue not like 'qwf.%%' and n.node_idx is not null
group by n.queue, n.task, n.required_model, n.project, f.served
order by min(n.node_idx)
limit %s
"""


@dataclass(frozen=True)
class TypedName(addresses.Unread):
    """The name of a queue or a workflow, as it was typed."""

    kind: str
    text: str
    option: str

    def read(self, conn: Connection) -> str:
        """The name. Raises click.BadParameter if there is nothing of that name."""
        check(conn, self.kind, self.text, self.option)
        return self.text


class Name(ParamType):
    """The name of a queue or a workflow that exists."""

    def __init__(self, kind: str) -> None:
        self.name = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: Any) -> Any:
        """The text, to be looked up once there is a connection."""
        return TypedName(self.name, value, param.opts[0] if param else "")


def check(conn: Connection, kind: str, name: str, option: str) -> None:
    """Raise click.BadParameter unless there is a queue, workflow or server of this name."""
    known = _names(conn, kind)
    if name not in known:
        text = f"there is no {kind} {name!r}" + (
            _meant(name, known) or f"; there are: {', '.join(sorted(known)[:MAX_LISTED]) or 'none'}"
        )
        raise click.BadParameter(text, param_hint=option)


def has(conn: Connection, kind: str, name: str) -> bool:
    """Return True if the name was seen."""
    return name in _names(conn, kind)


def nearest(conn: Connection, kind: str, name: str) -> str | None:
    """The known name that was probably meant by the name of a host, task or worker that is not
    known."""
    known = _names(conn, kind)
    return None if name in known else config.close_to(name, known)


def note_unseen(conn: Connection, **names: str | None) -> None:
    """Say on standard error which of these names was never seen. Nothing was found for them."""
    for kind, name in names.items():
        if name is not None and name not in (known := _names(conn, kind)):
            _note(f"no {kind} {name!r} has been seen{_meant(name, known)}")


def note_unable(conn: Connection, queue: str | None, **names: str | None) -> None:
    """Say on standard error that workers serve the queue, but none has this task or model.

    A login that may not read the workers is told nothing.
    """
    with contextlib.suppress(psycopg.errors.InsufficientPrivilege):
        _note_unable(conn, queue or "default", names)


def note_unable_nodes(conn: Connection, run: int) -> None:
    """Say on standard error which nodes of the run no live worker can take, as far as that depends
    on the queue, the task and the model. A login that may not read the workers is told nothing."""
    with contextlib.suppress(psycopg.errors.InsufficientPrivilege):
        unserved: set[str] = set()
        for row in connection.many(conn, NEEDED, (run, MAX_LISTED)):
            queue, node = row["queue"], row["node"]
            if row["served"]:
                _note_unable(conn, queue, {"task": row["task"], "model": row["model"]}, node)
            elif queue not in unserved:
                unserved.add(queue)
                jobs = f"project {row['project']}" if row["project"] else "jobs without a project"
                of = f" for {jobs}" if row["live"] else ""
                _note(f"no live worker serves queue {queue}{of}, which node {node} needs")


def _note_unable(
    conn: Connection, queue: str, names: Mapping[str, str | None], node: str | None = None
) -> None:
    which = f", which node {node} needs" if node else ""
    for kind, name in names.items():
        for row in connection.many(conn, ABLE[kind], (queue,)) if name is not None else []:
            known = [one for one in row["names"] if one is not None]
            if name is not None and name not in known:
                meant = _meant(name, known)
                _note(f"no live worker of queue {queue} has {kind} {name!r}{which}{meant}")


def note_context(conn: Connection, run: int, context: dict[str, Any]) -> None:
    """Say on standard error what the workflow of the run does not read of the context, if it looks
    like something that it reads and that is missing; other keys may be there on purpose. And what
    is missing that it needs unless something is skipped."""
    notes = connection.call(conn, "context_notes", run_id=run, context=context)
    for path, meant in notes["unread"].items():
        _note(f"the workflow does not read {path!r} of the context: did you mean {meant!r}?")
    for path, reader in notes["needed"].items():
        _note(f"the context has no {path!r}: {reader} needs it unless {reader} is skipped")


def _names(conn: Connection, kind: str) -> list[str]:
    return [row["name"] for row in connection.many(conn, NAMES, (kind,))]


def _meant(name: str, known: Iterable[str]) -> str:
    near = config.close_to(name, known)
    return f": did you mean {near!r}?" if near else ""


def _note(text: str) -> None:
    click.echo(f"note: {visible(text)}", err=True)
