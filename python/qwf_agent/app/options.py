"""The options of a job or run that a producer may set: their types, and the SQL for each."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import PurePath
from typing import Any, Literal, NamedTuple, TypedDict

from qwf_agent.app.values import suggestion, to_json

# The longest that a job may be put off.
LONGEST_DELAY = timedelta(days=365_250)
UNITS = (
    "us usec usecs usecond useconds microsecond microseconds ms msec msecs msecond mseconds "
    "millisecond milliseconds s sec secs second seconds m min mins minute minutes h hr hrs hour "
    "hours d day days w week weeks mon mons month months y yr yrs year years dec decs "
    "decade decades c cent century centuries mil mils millennium millennia"
)
# A part of a duration that Postgres can read: 1:30 or 1-2, or a number with or without a unit.
PART = re.compile(
    r"[+-]?\d+[:-][\d:.-]+|[+-]?(?:\d+\.?\d*|\.\d+)"
    rf"(?:\s*(?:{'|'.join(sorted(UNITS.split(), key=len, reverse=True))}))?(?![a-z])"
)
ISO = re.compile(r"-?P[\dYMWDTHS.:-]+")
# Options of one job: its neighbour cannot lack them.
OF_ONE_JOB = ("key", "key_mode", "debounce", "debounce_max", "once", "run_at")
# What these options are, as texts, if nobody gives them.
DEFAULTS = {
    "priority": "100", "project": "", "labels": "{}", "requires": "{}", "light": "false",
    "at_most_once": "false",
    "on_failure": "fail",
}  # fmt: skip


class Options(TypedDict, total=False):
    """Arguments of `options()` and `@app.task()`. None stands for the default. The durations are
    seconds, a timedelta, or a text such as "10 min"; a timedelta for `run_at` counts from now.
    `limit_by` may be a function of the job's arguments, which returns a limit or None."""

    queue: str | None
    priority: int | None
    run_at: datetime | timedelta | None
    key: str | None
    key_mode: Literal["keep", "replace", "refuse"] | None
    debounce: float | str | timedelta | None
    debounce_max: float | str | timedelta | None
    project: str | None
    max_attempts: int | None
    max_losses: int | None
    backoff: list[float] | dict[str, float] | None
    timeout: float | str | timedelta | None
    labels: dict[str, Any] | None
    once: bool | None
    at_most_once: bool | None
    model: str | None
    light: bool | None
    vram_mb: int | None
    requires: dict[str, str] | None
    limit_by: str | Callable[..., str | None] | None
    on_failure: str | None
    expires: float | str | timedelta | None
    notify: str | None


class RunOptions(TypedDict, total=False):
    """Arguments of `runs.enqueue()` besides the context; as in Options."""

    priority: int | None
    run_at: datetime | timedelta | None
    key: str | None
    out_dir: str | PurePath | None
    project: str | None
    labels: dict[str, Any] | None
    once: bool | None
    limit_by: str | None
    max_attempts: int | None
    backoff: list[float] | dict[str, float] | None
    notify: str | None


class Changes(TypedDict, total=False):
    """Arguments of `jobs.change()` besides the jobs; as in Options. `limit_by=""` takes the jobs
    out of their limit, and `run_next` puts them before all others of their queue."""

    priority: int | None
    queue: str | None
    run_at: datetime | timedelta | None
    run_next: bool | None
    limit_by: str | None


class SqlValue(NamedTuple):
    """A value as a text, and the SQL that turns this text, in the place of {}, into the value.
    `from_now` is set if the value is the time so long after now."""

    text: str
    sql: str = "{}"
    from_now: timedelta | None = None


JSON = "{}::jsonb"
CHECKED = SqlValue('{"qwf.checked": true}', JSON)


class OptionKind(NamedTuple):
    """The allowed values of an option, in words, and their conversion; None means that it is
    something else."""

    expected: str
    convert: Callable[[Any], SqlValue | None]


def _text(value: Any) -> SqlValue | None:
    return SqlValue(value) if isinstance(value, str) else None


def _name(value: Any) -> SqlValue | None:
    return _text(value) if value != "" else None


def _key_mode(value: Any) -> SqlValue | None:
    return _text(value) if value in ("keep", "replace", "refuse") else None


def _path(value: Any) -> SqlValue | None:
    return _name(str(value) if isinstance(value, PurePath) else value)


def _number(value: Any) -> SqlValue | None:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 1 << 31:
        return None
    return SqlValue(str(value), "{}::int")


def _flag(value: Any) -> SqlValue | None:
    return SqlValue(str(value), "{}::boolean") if isinstance(value, bool) else None


def _duration(value: Any) -> SqlValue | None:
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, str):
        return SqlValue(value, "{}::interval") if _is_duration(value) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return SqlValue(_seconds(value), "{}::interval")


def _is_duration(text: str) -> bool:
    """False for a text that Postgres cannot read as a duration. It refuses some others, too."""
    if ISO.fullmatch(text.strip()):
        return True
    rest, parts = PART.subn(" ", text.lower())
    return parts > 0 and set(rest.replace(",", " ").split()) <= {"@", "ago"}


def _seconds(value: float) -> str:
    return f"{value:f}".rstrip("0").rstrip(".") + " seconds"


def _moment(value: Any) -> SqlValue | None:
    if isinstance(value, timedelta):
        if abs(value) > LONGEST_DELAY:
            return None
        seconds = _seconds(value.total_seconds())
        return SqlValue(seconds, "qwf.now() + {}::interval", from_now=value)
    if isinstance(value, datetime) and value.utcoffset() is not None:
        return SqlValue(value.isoformat(), "{}::timestamptz")
    return None


def _dict(value: Any) -> SqlValue | None:
    return SqlValue(to_json(value), JSON) if isinstance(value, dict) else None


def _list_or_dict(value: Any) -> SqlValue | None:
    return SqlValue(to_json(value), JSON) if isinstance(value, (list, dict)) else None


TEXT = OptionKind("a text", _text)
NAME = OptionKind("a text that is not empty", _name)
KEY_MODE = OptionKind("'keep', 'replace' or 'refuse'", _key_mode)
PATH = OptionKind("a path, or a text that is not empty", _path)
NUMBER = OptionKind("a whole number of at most 31 bits", _number)
FLAG = OptionKind("True or False", _flag)
DURATION = OptionKind("a number of seconds, a timedelta, or a text such as '10 min'", _duration)
MOMENT = OptionKind(
    "a datetime with a time zone, such as datetime.now(timezone.utc), or a timedelta from now "
    "of at most 1000 years",
    _moment,
)
DICT = OptionKind("a dict", _dict)
BACKOFF = OptionKind("a list of seconds or a dict such as {'base': 1, 'factor': 2}", _list_or_dict)

KINDS: dict[str, OptionKind] = {
    "queue": NAME, "priority": NUMBER, "run_at": MOMENT, "key": NAME, "key_mode": KEY_MODE,
    "debounce": DURATION, "debounce_max": DURATION, "project": TEXT, "max_attempts": NUMBER,
    "max_losses": NUMBER, "backoff": BACKOFF,
    "timeout": DURATION, "labels": DICT, "once": FLAG, "at_most_once": FLAG,
    "model": NAME, "light": FLAG, "vram_mb": NUMBER, "requires": DICT, "limit_by": NAME,
    "on_failure": NAME, "expires": DURATION, "notify": NAME,
}  # fmt: skip


RUN_KINDS: dict[str, OptionKind] = {
    "priority": NUMBER, "run_at": MOMENT, "key": NAME, "out_dir": PATH, "project": TEXT,
    "labels": DICT, "once": FLAG, "limit_by": NAME, "max_attempts": NUMBER, "backoff": BACKOFF,
    "notify": NAME,
}  # fmt: skip


CHANGES: dict[str, OptionKind] = {
    "priority": NUMBER, "queue": NAME, "run_at": MOMENT, "run_next": FLAG, "limit_by": TEXT,
}  # fmt: skip


def limit_function(options: Mapping[str, Any]) -> Callable[..., str | None] | None:
    """The function that says of which limit a job is; None if `limit_by` is no function."""
    given = options.get("limit_by")
    return given if callable(given) else None


def without_functions(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are the same for all jobs: without a `limit_by` that is a function."""
    return {n: value for n, value in options.items() if n != "limit_by" or not callable(value)}


def convert_options(
    options: Mapping[str, Any], kinds: Mapping[str, OptionKind] = KINDS
) -> dict[str, SqlValue | None]:
    """Each option as SQL takes it; None stays None. Raises TypeError for an option that does not
    exist, and for a value that it cannot have."""
    return {name: _convert(name, value, kinds) for name, value in options.items()}


def _convert(name: str, value: Any, kinds: Mapping[str, OptionKind]) -> SqlValue | None:
    kind = kinds.get(name)
    if kind is None:
        raise TypeError(f"unknown option {name!r}; {suggestion(name, kinds)}")
    if value is None:
        return None
    try:
        converted = kind.convert(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"the option {name!r} is not JSON: {error}") from None
    if converted is None:
        raise TypeError(f"the option {name!r} has to be {kind.expected}, not {value!r}")
    return converted


def for_each_job(options: Mapping[str, SqlValue | None]) -> dict[str, str]:
    """The converted options that every job of a task should have, as texts; without those that
    jobs have anyway."""
    texts_of = {
        name: value.text.lower() if KINDS[name] is FLAG else value.text
        for name, value in options.items()
        if value is not None and name not in OF_ONE_JOB
    }
    return {name: text for name, text in texts_of.items() if DEFAULTS.get(name) != text}


def checked(labels: SqlValue | None) -> SqlValue:
    """The labels of a job whose arguments were compared with the function of its task, with a mark
    that the engine takes out: a worker that does not know an argument then has older code."""
    if labels is None:
        return CHECKED
    return SqlValue(json.dumps({**json.loads(labels.text), **json.loads(CHECKED.text)}), JSON)


def seconds_of(what: str, value: object) -> float | SqlValue:
    """A duration in seconds; a text as SQL takes it. Raises TypeError if it is neither."""
    converted = DURATION.convert(value)
    if converted is None:
        raise TypeError(f"{what} has to be {DURATION.expected}, not {value!r}")
    if isinstance(value, timedelta):
        return value.total_seconds()
    return float(value) if isinstance(value, (int, float)) else converted


def id_of(what: str, given: int) -> SqlValue:
    """The id of a job or run. Raises TypeError for anything but a whole number."""
    if isinstance(given, bool) or not isinstance(given, int):
        raise TypeError(f"the id of a {what} has to be a whole number, not {given!r}")
    return SqlValue(str(given), "{}::bigint")


def ids_of(what: str, given: Iterable[int]) -> SqlValue:
    """The ids of jobs or runs. Raises TypeError for anything but whole numbers."""
    return SqlValue("{" + ",".join(id_of(what, one).text for one in given) + "}", "{}::bigint[]")


def own_project() -> dict[str, SqlValue]:
    """The project of what this process enqueues unless it names another: that of QWF_PROJECT."""
    named = os.environ.get("QWF_PROJECT")
    return {"project": SqlValue(named)} if named and named != "*" else {}


def texts(**given: str | None) -> dict[str, SqlValue]:
    """The texts by their names, without those that are None. Raises TypeError for what is no
    text."""
    for name, value in given.items():
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} has to be a text, not {value!r}")
    return {name: SqlValue(value) for name, value in given.items() if value is not None}


def json_of(what: str, value: object) -> SqlValue:
    """A value as JSON. Raises TypeError or ValueError, naming what it is, if it is not."""
    try:
        return SqlValue(to_json(value), JSON)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{what} not JSON: {error}") from None
