"""When cron expressions are due, against croniter for the calendar and zoneinfo for the clocks.

croniter says which local times an expression names (`implement_cron_bug` is its name for what Vixie
cron does with the two day fields). zoneinfo says when the clocks of a zone show them. What is made
of times that clocks skip or show twice is written down once more here, independently of the SQL.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest
from croniter import CroniterBadDateError, croniter
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

ZONES = [
    "UTC",
    "Europe/Berlin",
    "Europe/Dublin",  # negative summer time
    "America/New_York",
    "America/St_Johns",  # until 2011 it changed at one minute past midnight
    "America/Havana",  # changes at midnight and at one
    "America/Sao_Paulo",  # skipped midnight
    "Africa/Cairo",
    "Asia/Kathmandu",  # a quarter of an hour off
    "Asia/Tehran",
    "Australia/Lord_Howe",  # moves by half an hour
    "Antarctica/Troll",  # moves by two hours
]
MINUTE = timedelta(minutes=1)
WIDEST = timedelta(hours=3)  # none of them moves by more at once

# Expressions -------------------------------------------------------------------------------------

MONTHS = ["JAN", "feb", "Mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "DEC"]
WEEKDAYS = ["SUN", "mon", "Tue", "wed", "thu", "fri", "SAT"]


@st.composite
def fields(draw: st.DrawFn, low: int, high: int, names: list[str] | None = None) -> str:
    """A field as croniter and qwf both understand it; see DIFFERENT for the rest."""

    def say(number: int) -> str:
        return names[number - low] if names and draw(st.booleans()) else str(number)

    def item() -> str:
        first = draw(st.integers(low, high))
        last = draw(st.integers(low, high))
        step = draw(st.integers(1, high - low + 1))
        kind = draw(st.sampled_from(["one", "one", "range", "step", "from"]))
        if kind == "range" and first != last:
            return f"{say(first)}-{say(last)}"
        if kind == "step" and first < last:
            return f"{say(first)}-{say(last)}/{step}"
        if kind == "from":
            return f"{say(first)}/{step}"
        return say(first)

    if draw(st.integers(0, 2)) == 0:
        return "*"
    items = [item() for _ in range(draw(st.integers(1, 3)))]
    if draw(st.integers(0, 4)) == 0:
        items.insert(0, f"*/{draw(st.integers(1, high - low + 1))}")
    return ",".join(items)


weekdays = st.one_of(
    fields(0, 6, WEEKDAYS), st.sampled_from(["7", "5-7", "0-7", "FRI-7", "1,7", "6-2"])
)
expressions = st.one_of(
    st.tuples(fields(0, 59), fields(0, 23), fields(1, 31), fields(1, 12, MONTHS), weekdays).map(
        " ".join
    ),
    st.tuples(fields(0, 59), fields(0, 23)).map(lambda f: f"{f[0]} {f[1]} * * *"),
    st.sampled_from(
        ["@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@ANNUALLY"]
    ),
)


def named(expression: str, after: datetime) -> Iterator[datetime]:
    """The local times that an expression names; ends where no more come in 45 years."""
    times = croniter(expression, after, implement_cron_bug=True, max_years_between_matches=45)
    while True:
        try:
            yield times.get_next(datetime)
        except CroniterBadDateError:
            return


# Clocks ------------------------------------------------------------------------------------------


def shown(at: datetime, zone: ZoneInfo) -> datetime:
    return at.astimezone(zone).replace(tzinfo=None)


def instants(local: datetime, zone: ZoneInfo) -> list[datetime]:
    """When clocks show a time, or when they skip it."""
    early, late = sorted(
        local.replace(tzinfo=zone, fold=fold).astimezone(timezone.utc) for fold in (0, 1)
    )
    if shown(late, zone) == local:
        return [early, late] if early != late else [late]
    while shown(early, zone) < local:
        early += MINUTE
    return [early]


def due(expression: str, zone: ZoneInfo, after: datetime, count: int) -> list[datetime]:
    """The next instants at which an expression is due."""
    hours = croniter.expand(expression)[0][1]
    every_hour = hours == ["*"]
    again = every_hour or expression.split()[1].startswith("*")
    found: set[datetime] = set()
    for local in named(expression, shown(after, zone) - WIDEST):
        if len(found) >= count and local > shown(sorted(found)[count - 1], zone) + WIDEST:
            break
        times = instants(local, zone)
        if shown(times[0], zone) != local and every_hour:
            continue
        found.update(at for at in times[: 2 if again else 1] if at > after)
    return sorted(found)[:count]


@functools.cache
def changes(zone: str) -> list[datetime]:
    """The days of this century, up to 2023, on which the clocks of a zone were changed."""
    info = ZoneInfo(zone)
    start = datetime(2000, 1, 1, tzinfo=timezone.utc)
    days = [start + timedelta(days=n) for n in range(24 * 365)]
    offsets = [day.astimezone(info).utcoffset() for day in days]
    changed = [day for day, a, b in zip(days, offsets, offsets[1:], strict=False) if a != b]
    return changed or [start]


@st.composite
def moments(draw: st.DrawFn) -> tuple[str, datetime]:
    """A zone, and an instant within two days of a change of its clocks."""
    zone = draw(st.sampled_from(ZONES))
    day = draw(st.sampled_from(changes(zone)))
    return zone, day + timedelta(seconds=draw(st.integers(-24 * 3600, 48 * 3600)))


# Tests -------------------------------------------------------------------------------------------

LOCAL = """
with recursive due (turn, at) as (
  select 1, _qwf.cron_local(_qwf.read_cron(%(expression)s), %(after)s::timestamp)
  union all
  select d.turn + 1, _qwf.cron_local(_qwf.read_cron(%(expression)s), d.at)
  from due d
  where d.turn < %(count)s and d.at is not null
)
select d.at from due d where d.at is not null order by d.turn
"""
NEXT = """
with recursive due (turn, at) as (
  select 1, _qwf.cron_next(_qwf.read_cron(%(expression)s), %(zone)s, %(after)s::timestamptz)
  union all
  select d.turn + 1, _qwf.cron_next(_qwf.read_cron(%(expression)s), %(zone)s, d.at)
  from due d
  where d.turn < %(count)s and d.at is not null
)
select d.at from due d where d.at is not null order by d.turn
"""
UNHURRIED = settings(
    max_examples=300,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@given(
    expression=expressions,
    after=st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1)),
)
@UNHURRIED
def test_the_calendar_is_that_of_croniter(
    db: psycopg.Connection[Any], expression: str, after: datetime
) -> None:
    rows = db.execute(LOCAL, {"expression": expression, "after": after, "count": 8}).fetchall()
    expected = [time for time, _ in zip(named(expression, after), range(8), strict=False)]
    assert [row[0] for row in rows] == expected


@pytest.mark.parametrize(
    ("expression", "after", "expected"),
    [
        ("0 0 29 2 *", datetime(2096, 3, 1), [datetime(2104, 2, 29), datetime(2108, 2, 29)]),
        ("0 0 29 2 */7", datetime(2088, 3, 1), [datetime(2128, 2, 29), datetime(2156, 2, 29)]),
        ("0 0 31 4,6,9,11 *", datetime(2026, 1, 1), []),
        ("0 0 30-31 2 */2", datetime(2026, 1, 1), []),
    ],
)
def test_what_is_rare_is_found_and_what_never_comes_is_known(
    db: psycopg.Connection[Any], expression: str, after: datetime, expected: list[datetime]
) -> None:
    rows = db.execute(LOCAL, {"expression": expression, "after": after, "count": 2}).fetchall()
    assert [row[0] for row in rows] == expected


@given(expression=expressions, moment=moments())
@UNHURRIED
def test_the_clocks_are_those_of_zoneinfo(
    db: psycopg.Connection[Any], expression: str, moment: tuple[str, datetime]
) -> None:
    zone, after = moment
    if expression.startswith("@"):
        expression = "0 * * * *"
    rows = db.execute(
        NEXT, {"expression": expression, "zone": zone, "after": after, "count": 12}
    ).fetchall()
    assert [row[0] for row in rows] == due(expression, ZoneInfo(zone), after, 12)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("expression", ["*/20 */2 * * *", "0 3 * * *", "30 0 1 * *"])
def test_a_zone_is_followed_through_years(
    db: psycopg.Connection[Any], expression: str, zone: str
) -> None:
    after = datetime(2009, 12, 31, 12, tzinfo=timezone.utc)
    rows = db.execute(
        NEXT, {"expression": expression, "zone": zone, "after": after, "count": 500}
    ).fetchall()
    assert [row[0] for row in rows] == due(expression, ZoneInfo(zone), after, 500)


# Where croniter, given the zone itself, says something else, and why. All in Europe/Berlin, where
# on 29 March 2026 two o'clock is skipped and on 25 October 2026 it comes twice.
BERLIN = ZoneInfo("Europe/Berlin")
SPRING = datetime(2026, 3, 28, 23, tzinfo=timezone.utc)
AUTUMN = datetime(2026, 10, 24, 22, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("expression", "after", "ours", "croniters"),
    [
        # Clocks are put forward: the same. A fixed time fires as the gap ends, others go on.
        ("30 2 * * *", SPRING, "01:00 00:30", "01:00 00:30"),
        ("0 */2 * * *", SPRING, "01:00 02:00", "01:00 02:00"),
        ("30 * * * *", SPRING, "23:30 00:30 01:30", "23:30 00:30 01:30"),
        # Two times that end up at the end of the gap are one firing.
        ("0,30 2 * * *", SPRING, "01:00 00:00", "01:00 00:00"),
        # Clocks are put back: whatever names all hours, or begins with *, fires both times.
        ("30 * * * *", AUTUMN, "22:30 23:30 00:30 01:30", "22:30 23:30 00:30 01:30"),
        ("0 */2 * * *", AUTUMN, "00:00 01:00 03:00", "00:00 01:00 03:00"),
        # A fixed time fires once. croniter fires it twice: a nightly job would run twice.
        ("30 2 * * *", AUTUMN, "00:30 01:30", "00:30 01:30 01:30"),
    ],
)
def test_where_clocks_change_it_differs_from_croniter_in_one_point(
    db: psycopg.Connection[Any], expression: str, after: datetime, ours: str, croniters: str
) -> None:
    wanted = ours.split()
    rows = db.execute(
        NEXT,
        {"expression": expression, "zone": str(BERLIN), "after": after, "count": len(wanted)},
    ).fetchall()
    assert [row[0].astimezone(timezone.utc).strftime("%H:%M") for row in rows] == wanted
    times = croniter(expression, after.astimezone(BERLIN))
    theirs = [times.get_next(datetime).astimezone(timezone.utc) for _ in croniters.split()]
    assert [time.strftime("%H:%M") for time in theirs] == croniters.split()


# Where croniter reads a field otherwise.
DIFFERENT = [
    ("5-5", 0, 59, [5], "croniter takes it for the whole hour"),
    ("50-10/7", 0, 59, [4, 50, 57], "croniter loses count where a range passes the end"),
    ("1,*", 0, 6, [0, 1, 2, 3, 4, 5, 6], "croniter takes it for a field that begins with *"),
]


@pytest.mark.parametrize(("field", "low", "high", "numbers", "why"), DIFFERENT)
def test_what_croniter_reads_otherwise(
    db: psycopg.Connection[Any], field: str, low: int, high: int, numbers: list[int], why: str
) -> None:
    row = db.execute(
        "select numbers from _qwf.read_cron_field(%s, %s, %s, null)", (field, low, high)
    ).fetchone()
    assert row == (numbers,), why


def test_a_day_that_a_zone_left_out_fires_as_it_ends(db: psycopg.Connection[Any]) -> None:
    """Samoa went from 29 to 31 December 2011, across the date line."""
    after = datetime(2011, 12, 29, 12, tzinfo=timezone(timedelta(hours=-10)))
    rows = db.execute(
        NEXT, {"expression": "0 6 * * *", "zone": "Pacific/Apia", "after": after, "count": 2}
    ).fetchall()
    local = [row[0].astimezone(ZoneInfo("Pacific/Apia")).isoformat() for row in rows]
    assert local == ["2011-12-31T00:00:00+14:00", "2011-12-31T06:00:00+14:00"]


@given(text=st.text(st.sampled_from("*/-,0123456789 \tMONjanLW#?@h"), max_size=30))
@UNHURRIED
def test_reading_never_raises_and_what_it_takes_is_due_or_never(
    db: psycopg.Connection[Any], text: str
) -> None:
    row = db.execute("select cardinality((_qwf.read_cron(%s)).problems)", (text,)).fetchone()
    assert row is not None
    if row[0] == 0:
        after = datetime(2026, 1, 1, tzinfo=timezone.utc)
        found = db.execute(
            "select _qwf.cron_next(_qwf.read_cron(%s), 'Europe/Berlin', %s)", (text, after)
        ).fetchone()
        assert found is not None
        assert found[0] is None or found[0] > after


@given(
    every=st.timedeltas(timedelta(seconds=1), timedelta(days=366)),
    anchor=st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1)),
    after=st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1)),
)
@UNHURRIED
def test_every_stays_on_its_grid(
    db: psycopg.Connection[Any], every: timedelta, anchor: datetime, after: datetime
) -> None:
    row = db.execute(
        "select _qwf.next_fire(jsonb_populate_record(null::qwf.schedules, jsonb_build_object("
        "'every', %s::interval, 'anchor', %s::timestamptz)), %s::timestamptz)",
        (every, anchor.replace(tzinfo=timezone.utc), after.replace(tzinfo=timezone.utc)),
    ).fetchone()
    expected = anchor if after < anchor else anchor + ((after - anchor) // every + 1) * every
    assert row == (expected.replace(tzinfo=timezone.utc),)
