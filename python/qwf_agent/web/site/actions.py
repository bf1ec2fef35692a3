"""The actions of a person at the page: each action is one call of one function of schema qwf."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql
from starlette.datastructures import FormData

from qwf_agent.look import masking
from qwf_agent.look.draw import words
from qwf_agent.web.forms import exact_json
from qwf_agent.web.reads import connections, database
from qwf_agent.web.site import undo
from qwf_agent.web.site.access import Person
from qwf_agent.web.site.page import ActionResult

if TYPE_CHECKING:
    from typing_extensions import LiteralString

TICKED = frozenset({"jobs", "runs"})  # arguments that name what a person ticked in a list
A_CALL = {"jobs": 1000, "runs": 500}  # what their functions take; a longer list is several calls
SURE = "sure"  # a field that says that a loss is meant
NUL = "nothing was changed: a text has a NUL character, which Postgres cannot store; leave it out"
MAX_NOTICES = 3
LOSSES = "select * from qwf.losses(value => %(value)s::interval, queue => %(queue)s)"
OF_RUN = "of_run"  # the run whose context a form began with
# Where the secrets are that a page hides in the fields of a form.
STORED: dict[str, LiteralString] = {
    "retry_job": "select j.inputs::text as args from qwf.job_details j"
    " where j.id = %(job_id)s::bigint",
    "create_schedule": "select s.args::text as args, s.options::text as options,"
    " s.expect::text as expect from qwf.schedule_overview s where s.name = %(name)s",
    "enqueue_run": "select r.context::text as context from qwf.run_details r"
    " where r.id = %(of_run)s::bigint",
    "retry_run": "select r.context::text as context from qwf.run_details r"
    " where r.id = %(run_id)s::bigint",
    "set_alert": "select a.rule::text as rule from qwf.alert_overview a where a.name = %(name)s",
}
ANSWERS = ("answer_job", "submit_input")  # what a person says: no page begins it with a mask
MAY_BE_EMPTY = {("change_job", "notify")}  # an empty text means something: nobody
MOST_LOST = 100_000  # jobs that qwf.losses() counts
DONE = ("retried", "cancelled", "requested", "changed")  # verdicts of jobs and runs in a list


@dataclass(frozen=True)
class Action:
    """A function that forms of the page may call, with the types of its arguments.

    The arguments are the fields of the form. A field that is empty is left out, so that the
    function's default applies. An array takes all fields of its name, and each may name several
    elements, separated by commas: a form has at most 1,000 fields. A field that is named
    ACTION.ARGUMENT is nothing to other actions, for a form with a button for each of several.
    A box ARGUMENT-none that is ticked gives its argument the empty text.
    """

    arguments: Mapping[str, str]
    done: (
        str  # what the page says afterwards; {name} stands for an argument, {result} for the value
    )


@dataclass(frozen=True)
class Verb:
    """A change of many jobs or runs at once: its action, and the states in which they take it.
    Pages of jobs say its past tense, those of runs what it does."""

    function: str
    states: tuple[str, ...]
    past: str = ""
    does: str = ""


ACTIONS: dict[str, Action] = {
    "answer_job": Action(
        {"job_id": "bigint", "value": "jsonb", "asked": "timestamptz"},
        "job {job_id} is answered",
    ),
    "submit_input": Action(
        {"run_id": "bigint", "node_id": "text", "value": "jsonb"},
        "answered; run {run_id} goes on",
    ),
    "backfill": Action(
        {
            "name": "text", "since": "timestamptz", "until": "timestamptz", "at_once": "int",
            "again": "boolean",
        },
        "schedule {result} has begun",
    ),
    "cancel_job": Action({"job_id": "bigint", "reason": "text"}, "job {job_id} is cancelled"),
    "cancel_jobs": Action({"jobs": "bigint[]", "reason": "text"}, "{ok} of {all} jobs cancelled"),
    "cancel_runs": Action({"runs": "bigint[]", "reason": "text"}, "{ok} of {all} runs cancelled"),
    "cancel_run": Action({"run_id": "bigint", "reason": "text"}, "run {run_id} is cancelled"),
    "change_job": Action(
        {
            "job_id": "bigint", "priority": "int", "queue": "text", "run_at": "timestamptz",
            "run_next": "boolean", "notify": "text", "limit_by": "text",
        },
        "job {job_id} is changed",
    ),
    "change_jobs": Action(
        {
            "jobs": "bigint[]", "priority": "int", "queue": "text", "run_at": "timestamptz",
            "run_next": "boolean", "limit_by": "text",
        },
        "{ok} of {all} jobs changed",
    ),
    "change_settings": Action({"changes": "jsonb"}, "the settings are changed"),
    "configure_server": Action(
        {
            "host": "text", "queue": "text", "server": "text", "parallel": "int",
            "idle": "interval",
        },
        "the model servers of {queue} on {host} are set",
    ),
    "create_limit": Action(
        {
            "name": "text", "max_running": "int", "starts": "int", "per": "interval",
            "keyed": "boolean",
        },
        "limit {name} is stored",
    ),
    "create_queue": Action(
        {
            "name": "text", "lease": "interval", "timeout": "interval", "retention": "interval",
            "max_running": "int", "placement": "text", "keep_completed": "boolean",
            "on_failure": "text", "expect": "jsonb", "unset": "text[]",
        },
        "queue {name} is stored",
    ),
    "create_schedule": Action(
        {
            "name": "text", "task": "text", "workflow": "text", "cron": "text", "every": "interval",
            "timezone": "text", "args": "jsonb", "queue": "text", "catch_up": "text",
            "overlap": "text", "enabled": "boolean", "priority": "int", "project": "text",
            "options": "jsonb", "expect": "jsonb",
        },
        "schedule {name} is stored; next: {result}",
    ),
    "drop_limit": Action({"name": "text"}, "limit {name} is dropped"),
    "drop_schedule": Action({"name": "text"}, "schedule {name} is dropped"),
    "enable_schedule": Action({"name": "text", "enabled": "boolean"}, "schedule {name} is changed"),
    "enqueue": Action(
        {
            "task": "text", "args": "jsonb", "queue": "text", "priority": "int",
            "run_at": "timestamptz", "key": "text", "project": "text", "labels": "jsonb",
        },
        "job {result} is queued",
    ),
    "enqueue_run": Action(
        {
            "workflow": "text", "context": "jsonb", "priority": "int", "run_at": "timestamptz",
            "key": "text", "out_dir": "text", "project": "text", "labels": "jsonb",
        },
        "run {result} is started",
    ),
    "mark_failures": Action(
        {
            "task": "text", "signature": "text", "seen": "boolean", "snooze": "interval",
            "until_release": "boolean", "note": "text",
        },
        "the failures of {task} are marked",
    ),
    "fire_schedule": Action(
        {"name": "text", "due": "timestamptz"}, "schedule {name} has fired"
    ),
    "follow_log": Action({"job_id": "bigint"}, "the log of job {job_id} is sent for 10 seconds"),
    "hold_limit": Action(
        {"name": "text", "until": "timestamptz", "key": "text"},
        "the hold of limit {name} is changed",
    ),
    "pause_queue": Action({"name": "text"}, "queue {name} is paused"),
    "prune": Action({"max_rows": "int"}, "pruned: {result}"),
    "register_pipeline": Action({"definition": "jsonb"}, "the pipeline is version {result}"),
    "register_workflow": Action({"definition": "jsonb"}, "the workflow is version {result}"),
    "request_model": Action(
        {"host": "text", "queue": "text", "model": "text", "action": "text"},
        "asked {queue} on {host} to {action} the model",
    ),
    "resume_queue": Action({"name": "text", "task": "text"}, "queue {name} goes on"),
    "retry_job": Action({"job_id": "bigint", "args": "jsonb"}, "job {job_id} runs again"),
    "retry_jobs": Action({"jobs": "bigint[]"}, "{ok} of {all} jobs run again"),
    "retry_runs": Action({"runs": "bigint[]"}, "{ok} of {all} runs go on"),
    "retry_run": Action(
        {
            "run_id": "bigint", "from_node": "text", "latest": "boolean", "context": "jsonb",
            "named": "text[]", "completed": "text",
        },
        "run {run_id} goes on",
    ),
    "set_alert": Action({"name": "text", "rule": "jsonb"}, "the rule {name} is changed"),
    "test_alert": Action({"name": "text"}, "a test message of the rule {name} will be sent"),
    "tick": Action({}, "ticked: {result}"),
    "worker_control": Action(
        {
            "host": "text", "queue": "text", "state": "text", "policy": "text", "reason": "text",
            "until": "timestamptz",
        },
        "{queue} on {host} is {state}",
    ),
}  # fmt: skip


class LossError(Exception):
    """A form would delete rows, and does not say that this is meant. The text says how many."""


class UnknownFieldError(Exception):
    """A form has a field that the action does not know."""


class NothingTickedError(Exception):
    """A form for jobs or runs names none of them. The text is the name of the argument."""


def call(action: str, form: FormData, person: Person) -> sql.Composed:
    """The statement that a form stands for. Raises UnknownFieldError, NothingTickedError."""
    known = ACTIONS[action]
    given: dict[str, tuple[str, Any]] = {}
    for key in dict.fromkeys(form.keys()):
        owner, dot, _ = key.partition(".")
        if key in ("csrf", "back", SURE, OF_RUN) or (dot and owner != action and owner in ACTIONS):
            continue
        name = key.removeprefix(f"{action}.")
        if name.endswith("-none") and (name := name.removesuffix("-none")) in known.arguments:
            if form.get(key.removesuffix("-none")):
                raise ValueError(f"{name} is given, and the box for none is ticked")
            given[name] = (known.arguments[name], "")
            continue
        if name not in known.arguments:
            raise UnknownFieldError(key)
        kind, texts = known.arguments[name], [v for v in form.getlist(key) if isinstance(v, str)]
        if not texts or kind.endswith("[]"):
            continue
        if texts[-1] != "" or (action, name) in MAY_BE_EMPTY:
            given[name] = (kind, texts[-1])
    for name, kind in known.arguments.items():
        if kind.endswith("[]"):
            listed = [text for field in form.getlist(name) for text in str(field).split(",")]
            given[name] = (kind, [text for text in listed if text])
            if name in TICKED and not given[name][1]:
                raise NothingTickedError(name)
    if action == "worker_control" and "queue" not in given:
        raise NothingTickedError("queues")
    return database.named_call(action, given)


async def outcome(action: str, form: FormData, person: Person) -> ActionResult:
    """Do it as this person, and say what came of it."""
    if not person.may:
        return ActionResult("this page is read-only", 403, "read-only")
    if person.acting_for is not None and action not in person.may:
        return ActionResult("your level may not do this", 403, "level")
    try:
        await _check_loss(action, form, person)
        way_back = await undo.before(action, form, person)
        form = await _with_secrets(action, form, person)
        rows, notices = await perform(action, form, person)
    except LossError as error:
        return ActionResult(f"nothing was changed: {error}", 409, "loss")
    except UnknownFieldError as error:
        return ActionResult(f"the action has no field {error}", 422, "field")
    except ValueError as error:
        return ActionResult(f"nothing was changed: {error}", 422, "args")
    except NothingTickedError as error:
        return ActionResult(f"nothing was changed: tick {error} first", 400, "ticks")
    except psycopg.Error as error:
        said, status = refused(error)
        return ActionResult(said, status, error.sqlstate or type(error).__name__, error=error)
    value = next(iter(rows[0].values())) if rows else None
    said = "; ".join([told(action, form, rows), *notices])
    return ActionResult(said, value=value, undo=way_back)


async def perform(
    action: str, form: FormData, person: Person
) -> tuple[connections.Rows, list[str]]:
    """Do it as this person; returns the rows, and what the database has to say, at most three
    notices. Raises psycopg.Error, UnknownFieldError, NothingTickedError."""
    notices: list[str] = []

    def listen(notice: psycopg.errors.Diagnostic) -> None:
        if len(notices) < MAX_NOTICES:
            notices.append(". ".join(filter(None, (notice.message_primary, notice.message_hint))))

    rows: connections.Rows = []
    async with connections.connect(person.dsn) as conn:
        conn.add_notice_handler(listen)
        for some in _in_calls(action, form):
            statement = sql.SQL("{};{}").format(_as(person, action), call(action, some, person))
            try:
                cursor = await conn.execute(statement)
            except psycopg.Error as error:
                if not rows:
                    raise
                notices.append(f"stopped there: {refused(error)[0]}; send it again for the rest")
                break
            cursor.nextset()
            rows += await cursor.fetchall()
    return rows, notices


def _in_calls(action: str, form: FormData) -> list[FormData]:
    """The form; or several if it names more jobs or runs than a call takes, or several queues of a
    box to switch."""
    queues = form.getlist("queue") if action == "worker_control" else []
    if len(queues) > 1:
        rest = [(key, value) for key, value in form.multi_items() if key != "queue"]
        return [FormData([*rest, ("queue", queue)]) for queue in queues]
    for name, most in A_CALL.items():
        if name in ACTIONS[action].arguments and len(form.getlist(name)) == 1:
            ids = str(form[name]).split(",")
            rest = [(key, value) for key, value in form.multi_items() if key != name]
            parts = [ids[at : at + most] for at in range(0, len(ids), most)]
            return [FormData([*rest, (name, ",".join(part))]) for part in parts]
    return [form]


async def _check_loss(action: str, form: FormData, person: Person) -> None:
    """Look before a shorter retention of a queue deletes rows. Raises LossError, psycopg.Error."""
    retention, queue = form.get("retention") or None, form.get("name")
    is_changed = retention is not None or "retention" in form.getlist("unset")
    if action != "create_queue" or not is_changed or form.get(SURE):
        return
    async with connections.connect(person.dsn) as conn:
        try:
            found = await (
                await conn.execute(LOSSES, {"value": retention, "queue": str(queue)})
            ).fetchall()
        except psycopg.Error as error:
            if error.sqlstate in ("QW005", "QW006"):
                return  # create_queue says what is wrong, and makes a queue that is not there yet
            raise
    for lost in found:
        if lost["jobs"]:
            least = "at least " if lost["jobs"] >= MOST_LOST else ""
            raise LossError(
                f"{words.spell(lost['before'])} becomes {words.spell(lost['kept'])}, which"
                f" deletes {least}{words.counted(lost['jobs'], 'finished job')} of queue"
                f" {queue} within"
                ' minutes. Tick "delete them" and send it again if you mean it'
            )


async def _with_secrets(action: str, form: FormData, person: Person) -> FormData:
    """A form with the secrets that its page has hidden in what it began with. Raises ValueError if
    one is not known, psycopg.Error."""
    hidden = [
        name
        for name, kind in ACTIONS[action].arguments.items()
        if kind == "jsonb" and masking.may_have_mask(str(form.get(name, "")))
    ]
    if action in ANSWERS or not hidden:
        return form
    given = {name: form.get(name) for name in ("job_id", "run_id", "name", OF_RUN)}
    found = []
    if action in STORED:
        async with connections.connect(person.dsn) as conn:
            found = await (await conn.execute(STORED[action], given)).fetchall()
    fields = [(key, value) for key, value in form.multi_items() if key not in hidden]
    for name in hidden:
        text = (found[0].get(name) if found else None) or "null"
        read = exact_json.read(str(form[name]))
        whole = exact_json.write(masking.unmasked(read, exact_json.read(text)))
        fields.append((name, whole))
    return FormData(fields)


def told(action: str, form: FormData, rows: connections.Rows) -> str:
    """The sentence of the page when it is done."""
    values = [next(iter(row.values())) for row in rows]
    said = {
        name.removeprefix(f"{action}."): ", ".join(map(str, form.getlist(name))) for name in form
    }
    good = sum(row.get("verdict") in DONE for row in rows)
    said |= {"result": str(values[0]) if values else "", "ok": str(good), "all": str(len(rows))}
    done = ACTIONS[action].done
    if action == "resume_queue" and said.get("task"):
        done = "one job of {task} runs alone; unless it crashes, the others follow"
    return done.format_map(said) + _refusals(rows)


def _refusals(rows: connections.Rows) -> str:
    """Why some of a list were refused: the first three."""
    refused = [row for row in rows if row.get("verdict") == "refused"]
    whys = [f"{next(iter(row.values()))}: {row['message']}" for row in refused[:3]]
    return "".join(f"; not {why}" for why in whys) + ("; and more" if len(refused) > 3 else "")


def _as(person: Person, action: str) -> sql.Composed:
    """Settings that make the next statement the person's: the role that calls, and for whom the
    page acts."""
    role = person.may.get(action)
    settings = {"qwf.acting_for": person.acting_for, "role": role}
    return sql.SQL("select ") + sql.SQL(", ").join(
        sql.SQL("pg_catalog.set_config({}, {}, true)").format(name, value)
        for name, value in settings.items()
        if value is not None
    )


def refused(error: psycopg.Error) -> tuple[str, int]:
    """The text about a refusal, and the status of the answer."""
    state = error.sqlstate or ""
    if state.startswith("QW") or state == "42501":
        hint = f". {error.diag.message_hint}" if error.diag.message_hint else ""
        detail = f" ({error.diag.message_detail})" if error.diag.message_detail else ""
        return f"{error.diag.message_primary}{detail}{hint}", 403 if state == "42501" else 409
    if isinstance(error, psycopg.errors.LockNotAvailable):
        return "another transaction holds a lock on it: try again in a moment", 409
    if isinstance(error, psycopg.errors.UntranslatableCharacter) or "NUL" in str(error):
        return NUL, 422
    if isinstance(error, psycopg.DataError):
        return error.diag.message_primary or "the database cannot read a value", 422
    if isinstance(error, psycopg.OperationalError):
        return "the database does not answer: nothing was changed as far as is known", 503
    return f"the database reports error {state}: see the log of qwf web", 500
