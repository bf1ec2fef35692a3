"""Runs of workflows: enqueue, look, wait, cancel, retry, answer.

The functions whose names end in _async are the same for asynchronous connections. All of them run
in the transaction of the connection, and raise the errors of its driver.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from qwf_agent.app.calls import Steps, document, drive, drive_async, number, value
from qwf_agent.app.connections import AsyncConnection, Connection, SqlCall
from qwf_agent.app.options import (
    DURATION,
    RUN_KINDS,
    RunOptions,
    SqlValue,
    convert_options,
    id_of,
    json_of,
    own_project,
    texts,
)
from qwf_agent.app.statuses import NodeStatus, Question, RunStatus, read_run
from qwf_agent.app.trace_labels import trace_labels, with_trace
from qwf_agent.app.waiting import Timeout, until_ended

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "NodeStatus",
    "Question",
    "RunStatus",
    "answer",
    "answer_async",
    "cancel",
    "cancel_async",
    "enqueue",
    "enqueue_async",
    "retry",
    "retry_async",
    "signal",
    "signal_async",
    "status",
    "status_async",
    "wait",
    "wait_async",
]  # fmt: skip

OnChange = Callable[[RunStatus], object]
Completed = Literal["compensate", "keep"]

log = logging.getLogger("qwf_agent")
# The workflows and keys of contexts that have been looked at for misspelt and missing keys.
MOST_SHAPES, MOST_KEYS = 1000, 1000
_looked_at: set[tuple[str, frozenset[str]]] = set()


def enqueue(
    conn: Connection, workflow: str, context: Mapping[str, Any] | None = None, /,
    **options: Unpack[RunOptions],
) -> int:  # fmt: skip
    """Enqueue a run of a workflow (name or name@version) and return its id, or the id of the run
    that holds the key; logs a warning if that run has another context, because yours is not used
    then. Raises TypeError or ValueError for arguments it cannot have.

    Logs a key of the context that the workflow does not read and that looks like one that is
    missing, and a missing one that something needs unless it is skipped; it looks once for each
    workflow and set of keys.
    """
    return drive(conn, _enqueue(_call(workflow, context, options), workflow, context or {}))


def enqueue_async(
    conn: AsyncConnection, workflow: str, context: Mapping[str, Any] | None = None, /,
    **options: Unpack[RunOptions],
) -> Coroutine[Any, Any, int]:  # fmt: skip
    """The same as `enqueue`, to be awaited."""
    return drive_async(conn, _enqueue(_call(workflow, context, options), workflow, context or {}))


def status(conn: Connection, run_id: int, /) -> RunStatus:
    """The run and its nodes at this moment."""
    return drive(conn, _status(run_id))


def status_async(conn: AsyncConnection, run_id: int, /) -> Coroutine[Any, Any, RunStatus]:
    """The same as `status`, to be awaited."""
    return drive_async(conn, _status(run_id))


def wait(
    conn: Connection, run_id: int, /, *,
    timeout: Timeout = None, on_change: OnChange | None = None,
) -> RunStatus:  # fmt: skip
    """Wait until the run has ended, however it ends; as `jobs.wait`."""
    return drive(conn, until_ended(_look(run_id), read_run, timeout, on_change))


def wait_async(
    conn: AsyncConnection, run_id: int, /, *,
    timeout: Timeout = None, on_change: OnChange | None = None,
) -> Coroutine[Any, Any, RunStatus]:  # fmt: skip
    """The same as `wait`, to be awaited. Use the connection for nothing else meanwhile."""
    return drive_async(conn, until_ended(_look(run_id), read_run, timeout, on_change))


def cancel(conn: Connection, run_id: int, /, reason: str | None = None) -> bool:
    """Cancel a run, except its clean-up nodes. False if it is cancelled or ending already."""
    return drive(conn, _cancel(run_id, reason))


def cancel_async(
    conn: AsyncConnection, run_id: int, /, reason: str | None = None
) -> Coroutine[Any, Any, bool]:
    """The same as `cancel`, to be awaited."""
    return drive_async(conn, _cancel(run_id, reason))


def retry(
    conn: Connection, run_id: int, /, from_node: str | None = None,
    context: Mapping[str, Any] | None = None, *, latest: bool = False, named: Iterable[str] = (),
    completed: Completed | None = None,
) -> int:  # fmt: skip
    """Run the failed and cancelled nodes of a run again, `from_node`, and all nodes after them;
    return how many. `context` has the keys to change, `latest` takes the current definitions.
    `named` has further nodes to run again: one that runs at most once and may have run needs to be
    named. `completed` says what becomes of what has completed, runs again and was not taken back:
    "compensate" takes it back first, "keep" leaves it; without it such a retry is refused."""
    return drive(conn, _retry(run_id, from_node, context, latest, named, completed))


def retry_async(
    conn: AsyncConnection, run_id: int, /, from_node: str | None = None,
    context: Mapping[str, Any] | None = None, *, latest: bool = False, named: Iterable[str] = (),
    completed: Completed | None = None,
) -> Coroutine[Any, Any, int]:  # fmt: skip
    """The same as `retry`, to be awaited."""
    return drive_async(conn, _retry(run_id, from_node, context, latest, named, completed))


def answer(
    conn: Connection, run_id: int, node_id: str, given: object, /, *, acting_for: str | None = None
) -> int:
    """Answer the question of a node, and return the id of the answer. `acting_for` says for
    whom the login of the connection answers."""
    return drive(conn, _answer(run_id, node_id, given, acting_for))


def answer_async(
    conn: AsyncConnection,
    run_id: int,
    node_id: str,
    given: object,
    /,
    *,
    acting_for: str | None = None,
) -> Coroutine[Any, Any, int]:
    """The same as `answer`, to be awaited."""
    return drive_async(conn, _answer(run_id, node_id, given, acting_for))


def signal(
    conn: Connection, name: str, payload: object = None, /, *, project: str | None = None,
    keep_for: Timeout = None,
) -> int:  # fmt: skip
    """Complete the steps of the project that wait for the signal of this name with the payload, {}
    if it is None; return how many, at most 100, as a tick completes the others. It is kept for
    steps that ask within `keep_for`, which is a day."""
    return drive(conn, _signal(name, payload, project, keep_for))


def signal_async(
    conn: AsyncConnection, name: str, payload: object = None, /, *, project: str | None = None,
    keep_for: Timeout = None,
) -> Coroutine[Any, Any, int]:  # fmt: skip
    """The same as `signal`, to be awaited."""
    return drive_async(conn, _signal(name, payload, project, keep_for))


def _call(workflow: str, context: Mapping[str, Any] | None, options: Mapping[str, Any]) -> SqlCall:
    read = _context(context or {})
    converted = convert_options(options, RUN_KINDS)
    given = own_project()
    given |= {name: option for name, option in converted.items() if option is not None}
    arguments = {**texts(workflow=workflow), "context": read, **given}
    return SqlCall("enqueue_run", with_trace(arguments, trace_labels()))


def _enqueue(call: SqlCall, workflow: str, context: Mapping[str, Any]) -> Steps[int]:
    run_id = yield from number(call)
    shape = workflow, frozenset(islice(_paths(context), MOST_KEYS))
    is_new = shape not in _looked_at
    if is_new or "key" in call.arguments:
        given = {"run_id": id_of("run", run_id), "context": call.arguments["context"]}
        notes = yield from document(SqlCall("context_notes", given))
        if notes["unused"]:
            log.warning("merged into run %s, your context was not used", run_id)
        if is_new:
            _warn_of_keys(workflow, notes)
            if len(_looked_at) >= MOST_SHAPES:
                _looked_at.clear()
            _looked_at.add(shape)
    return run_id


def _warn_of_keys(workflow: str, notes: Mapping[str, Any]) -> None:
    for path, meant in notes["unread"].items():
        log.warning(
            "the workflow %s does not read %r of the context: did you mean %r?",
            workflow, path, meant,
        )  # fmt: skip
    for path, reader in notes["needed"].items():
        log.warning(
            "the context of the workflow %s has no %r: %s needs it unless %s is skipped",
            workflow, path, reader, reader,
        )  # fmt: skip


def _paths(value: Mapping[str, Any], place: str = "") -> Iterator[str]:
    """The paths of the keys of a context."""
    for key, inner in value.items():
        yield f"{place}{key}"
        if isinstance(inner, Mapping):
            yield from _paths(inner, f"{place}{key}.")


def _look(run_id: int) -> SqlCall:
    return SqlCall("run_status", {"run_id": id_of("run", run_id)})


def _status(run_id: int) -> Steps[RunStatus]:
    return read_run((yield from document(_look(run_id))))


def _cancel(run_id: int, reason: str | None) -> Steps[bool]:
    given = {"run_id": id_of("run", run_id), **texts(reason=reason)}
    return (yield from value(SqlCall("cancel_run", given))) == "true"


def _retry(
    run_id: int, from_node: str | None, context: Mapping[str, Any] | None, latest: bool,
    named: Iterable[str], completed: Completed | None,
) -> Steps[int]:  # fmt: skip
    given: dict[str, SqlValue] = {"run_id": id_of("run", run_id)}
    given |= texts(from_node=from_node, completed=completed)
    if context is not None:
        given["context"] = _context(context)
    if latest:
        given["latest"] = SqlValue("true", "{}::boolean")
    nodes = [named] if isinstance(named, str) else list(named)
    if nodes:
        listed = json_of("named is", nodes)
        given["named"] = listed._replace(sql="array(select jsonb_array_elements_text({}::jsonb))")
    return (yield from number(SqlCall("retry_run", given)))


def _context(given: Mapping[str, Any]) -> SqlValue:
    if not isinstance(given, Mapping):
        raise TypeError(f"the context has to be a dict, not {given!r}")
    return json_of("the context is", dict(given))


def _answer(run_id: int, node_id: str, given: object, acting_for: str | None) -> Steps[int]:
    arguments: dict[str, SqlValue] = {
        "run_id": id_of("run", run_id),
        **texts(node_id=node_id),
        "value": json_of("the answer is", given),
        **texts(acting_for=acting_for),
    }
    return (yield from number(SqlCall("submit_input", arguments)))


def _signal(name: str, payload: object, project: str | None, keep_for: Timeout) -> Steps[int]:
    given = {} if payload is None else payload
    arguments = {**texts(name=name), "payload": json_of("the payload is", given)}
    arguments |= own_project() | texts(project=project)
    kept = convert_options({"keep_for": keep_for}, {"keep_for": DURATION})
    arguments |= {option: value for option, value in kept.items() if value is not None}
    return (yield from number(SqlCall("signal", arguments)))
