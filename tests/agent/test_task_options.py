"""The options of a job are checked where they are given, before anything reaches the database."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import Any

import psycopg
import pytest
from bodies import add, noop

from qwf_agent import App
from qwf_agent.app.options import KINDS, Options
from support.harness import Database

UTC = timezone.utc
BERLIN = timezone(timedelta(hours=2))

REFUSED = [
    ("prioritty", 1, "unknown option 'prioritty'; did you mean 'priority'"),
    ("zzz", 1, "unknown option 'zzz'; use one of at_most_once, backoff, "),
    ("run_at", datetime(2040, 1, 1), r"a datetime with a time zone, such as "),
    ("run_at", date(2040, 1, 1), "a datetime with a time zone"),
    ("run_at", "tomorrow", "a timedelta from now of at most 1000 years, not 'tomorrow'"),
    ("priority", "5", "a whole number of at most 31 bits, not '5'"),
    ("priority", 1 << 31, "a whole number"),
    ("priority", 1.5, "a whole number"),
    ("priority", True, "a whole number"),
    ("key", "", "a text that is not empty, not ''"),
    ("key", 5, "a text that is not empty, not 5"),
    ("key_mode", "join", "'keep', 'replace' or 'refuse', not 'join'"),
    ("key_mode", ["keep"], "'keep', 'replace' or 'refuse'"),
    ("debounce", datetime(2040, 1, 1, tzinfo=UTC), "a number of seconds, a timedelta, or a text"),
    ("debounce_max", "soon", "or a text such as '10 min', not 'soon'"),
    ("queue", "", "a text that is not empty"),
    ("project", 5, "a text, not 5"),
    ("once", 1, "True or False"),
    ("timeout", True, "a number of seconds, a timedelta, or a text"),
    ("timeout", float("nan"), "a number of seconds"),
    ("timeout", "10 parsecs", "or a text such as '10 min', not '10 parsecs'"),
    ("timeout", "", "or a text such as"),
    ("expires", "soon", "or a text such as '10 min', not 'soon'"),
    ("run_at", timedelta.max, "of at most 1000 years, not"),
    ("run_at", -timedelta(days=400_000), "of at most 1000 years, not"),
    ("expires", datetime(2040, 1, 1, tzinfo=UTC), "a number of seconds, a timedelta"),
    ("backoff", 5, "a list of seconds or a dict"),
    ("labels", [1], "a dict"),
    ("labels", {"a": {1}}, "is not JSON"),
    ("requires", "host=a", "a dict"),
]


@pytest.mark.parametrize(("name", "value", "reason"), REFUSED)
def test_a_value_that_an_option_cannot_have_is_refused(name: str, value: Any, reason: str) -> None:
    with pytest.raises(TypeError, match=reason):
        add.options(**{name: value})  # type: ignore[typeddict-item]
    with pytest.raises(TypeError, match=reason):
        App().task("add", **{name: value})(lambda: None)  # type: ignore[arg-type]


STORED = [
    ({"run_at": datetime(2040, 1, 1, 12, tzinfo=BERLIN)}, datetime(2040, 1, 1, 10, tzinfo=UTC)),
    ({"timeout": 90}, timedelta(seconds=90)),
    ({"timeout": 0.00001}, timedelta(microseconds=10)),
    ({"timeout": timedelta(days=2, seconds=1)}, timedelta(days=2, seconds=1)),
    ({"timeout": "10 min"}, timedelta(minutes=10)),
    ({"priority": -5}, -5),
    ({"labels": {"a": "50% of $1 :x"}}, {"a": "50% of $1 :x"}),
    ({"backoff": {"base": 1, "factor": 2}}, {"base": 1, "factor": 2}),
    ({"requires": {"host": "box-b"}}, {"host": "box-b"}),
    ({"key": "ö'\\"}, "ö'\\"),
    ({"once": False}, False),
    ({"max_attempts": None}, None),
]


@pytest.mark.parametrize(("options", "stored"), STORED)
def test_an_option_is_stored_as_it_was_given(base: Database, options: Options, stored: Any) -> None:
    base.conn.execute("set timezone = 'Pacific/Auckland'")
    job = base.job(add.options(**options).enqueue(base.conn, a=1))
    assert job[next(iter(options))] == stored


DURATIONS = [
    "10 min", "10min", "90", "1 day 2 hours", "1h30m", "1:30", "01:02:03.5", "3 4:05:06", "1-2",
    "P1D", "PT1H", "P1Y2M10DT2H30M", "@ 1 minute ago", "-1 day", "1.5 hours", ".5 s",
    "2 weeks 3 days", " 10 Minutes ", "1 mon", "5 us", "7 msec",
    "2 millennia", "1 decade", "3 centuries", "1 year", "+4 s",
]  # fmt: skip


def test_what_postgres_reads_as_a_duration_is_not_refused(base: Database) -> None:
    for text in DURATIONS:
        base.conn.execute("select %s::interval", (text,))
        add.options(timeout=text)


WRONG = ["10 parsecs", "", "soon", "min", "1 dayz", "x 10 min", "P", "p1d"]


@pytest.mark.parametrize("text", WRONG)
def test_postgres_would_refuse_it_too(base: Database, text: str) -> None:
    with pytest.raises(psycopg.errors.DataError):
        base.conn.execute("select %s::interval", (text,))
    with pytest.raises(TypeError, match="a text such as '10 min'"):
        add.options(timeout=text)


def test_an_app_says_which_options_each_job_of_a_task_should_have() -> None:
    app = App()
    app.task("all", key="k", once=True, run_at=timedelta(1), timeout=30, light=True)(noop.function)
    app.task("usual", priority=100, on_failure="fail", light=False, labels={})(noop.function)
    assert app.tasks["all"].declared() == {"timeout": "30 seconds", "light": "true"}
    assert app.tasks["usual"].declared() == {}


def test_a_timedelta_for_run_at_counts_from_now(base: Database) -> None:
    later = add.options(run_at=timedelta(hours=1), expires=timedelta(minutes=5))
    before = base.one("select qwf.now()")
    job = base.job(later.enqueue(base.conn, a=1))
    after = base.one("select qwf.now()")
    assert before <= job["run_at"] - timedelta(hours=1) <= after
    assert job["expires_at"] - job["run_at"] == timedelta(minutes=5)


def test_none_takes_an_option_back(base: Database) -> None:
    task = add.options(key="k", priority=5).options(key=None)
    job = base.job(task.enqueue(base.conn, a=1))
    assert (job["key"], job["priority"]) == (None, 5)


def test_every_option_has_a_type_and_is_an_argument_of_enqueue(base: Database) -> None:
    arguments = base.one("select proargnames from pg_proc where oid = 'qwf.enqueue'::regproc")
    assert {"task", "args", *KINDS} == set(arguments)
    assert set(Options.__annotations__) == set(KINDS)
