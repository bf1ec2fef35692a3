"""The database connection in a select loop: it never blocks, and every call ends."""

from __future__ import annotations

import json
import selectors
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest

from qwf_agent.agent.calls import SentCall
from qwf_agent.agent.db import Query
from qwf_agent.agent.link import Link
from support.harness import DEADLINE_S, Database, until


class Loop:
    """A select loop with only a link in it."""

    def __init__(self, dsn: str, deadline_s: float, prepare: bool = True) -> None:
        self.selector = selectors.DefaultSelector()
        self.link = Link(dsn, "test of link", self.selector, deadline_s, prepare)

    def turn(self) -> None:
        for key, _ in self.selector.select(0.02):
            key.data()
        self.link.step(time.monotonic())

    def connected(self) -> Link:
        self.until(lambda: self.link.up)
        return self.link

    def until(self, done: object) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while not done():  # type: ignore[operator]
            assert time.monotonic() < deadline
            self.turn()

    def ask(self, text: str, *params: object, soft: bool = False) -> SentCall:
        call = self.connected().send(Query(text, params, soft))  # type: ignore[arg-type]
        self.until(lambda: call.done)
        return call


@pytest.fixture
def loop(base: Database) -> Iterator[Loop]:
    loop = Loop(base.dsn, 30)
    yield loop
    loop.link.close()


@pytest.mark.parametrize(
    "value", ["", "'", "\\", "\\'; drop table x; --", "{}", "é😀", "$1", "%s", "a\nb", None]
)
def test_parameters_arrive_unchanged(loop: Loop, value: str | None) -> None:
    call = loop.ask("select {}::text as a, {}::text as b", value, "last")
    assert call.failure is None
    assert call.rows == [{"a": value, "b": "last"}]


PREPARED = "select count(*) from pg_prepared_statements where statement ~ {}"


def test_a_call_that_is_repeated_is_prepared(loop: Loop) -> None:
    for value in ("a", "b'", None):
        call = loop.ask("select {}::text as is_repeated", value)
        assert call.rows == [{"is_repeated": value}]
    assert loop.ask(PREPARED, "is_repeated").value() == 1


def test_a_call_does_not_need_that_its_statement_is_still_there(loop: Loop) -> None:
    """A transaction pooler may send it to another session."""
    for value in range(4):
        assert loop.ask("select {}::int as again", value).rows == [{"again": value}]
        loop.ask("deallocate all")
    assert loop.ask(PREPARED, "again").value() == 0


def test_a_call_gets_the_columns_that_a_function_returns_by_now(base: Database, loop: Loop) -> None:
    columns = ("i int", "i int, j int")
    for found in columns:
        base.conn.execute("drop function if exists f")
        base.conn.execute(
            f"create function f(a int) returns table ({found}) language sql as "
            f"'select {', '.join('a' * len(found.split(',')))}'"
        )
        for _ in range(3):
            row = loop.ask("select * from public.f({})", 7).rows[0]
            assert set(row.values()) == {7}
            assert len(row) == len(found.split(","))


def test_an_error_of_a_repeated_call_is_its_answer(loop: Loop) -> None:
    for _ in range(3):
        failure = loop.ask("select {}::int", "x").failure
        assert failure is not None
        assert failure.sqlstate == "22P02"


def test_a_link_that_shares_its_session_prepares_nothing(base: Database) -> None:
    loop = Loop(base.dsn, 30, prepare=False)
    for value in range(3):
        assert loop.ask("select {}::int as shared", value).value() == value
    assert loop.ask(PREPARED, "shared").value() == 0
    loop.link.close()


def test_values_have_their_types(loop: Loop) -> None:
    text = "select 1::bigint as i, true as b, '1 day'::interval as t, 0.5::real as f"
    text += ", '[1]'::jsonb as j"
    row = loop.ask(text).rows[0]
    assert (row["i"], row["b"], row["t"], row["f"]) == (1, True, timedelta(days=1), 0.5)
    assert json.loads(row["j"]) == [1]


@pytest.mark.parametrize(
    ("interval", "value"),
    [
        ("1 year 2 mons 3 days 04:05:06.5", timedelta(428.25, 14706.5)),
        ("-1 days -00:00:01", timedelta(-1, -1)),
        ("0", timedelta(0)),
        ("1 mon -1 day", timedelta(29)),
        ("2700000 hours", timedelta(hours=2_700_000)),
        ("170000000 years", timedelta.max),
        ("-170000000 years", timedelta.min),
    ],
)
def test_every_interval_can_be_read(loop: Loop, interval: str, value: timedelta) -> None:
    assert loop.ask("select {}::interval", interval).value() == value


def test_an_interval_is_as_long_as_the_server_says(loop: Loop) -> None:
    """Whatever its parts and their signs: a producer chooses the timeout of a job."""
    call = loop.ask(
        "select i as given, extract(epoch from i)::float8 as seconds"
        " from (select make_interval(months => m, days => d, secs => s)"
        " from unnest(array[-25, -12, -1, 0, 1, 12, 25]) m, unnest(array[-40, -1, 0, 1, 40]) d,"
        " unnest(array[-200000.25, -1, 0, 1, 200000.25]) s) made (i)"
    )
    assert call.failure is None
    assert len(call.rows) == 175
    for row in call.rows:
        assert row["given"].total_seconds() == row["seconds"]


@pytest.mark.parametrize("time", ["infinity", "-infinity", "12026-01-01", "0044-03-15 BC"])
def test_every_time_can_be_read(loop: Loop, time: str) -> None:
    assert loop.ask("select {}::timestamptz", time).value().startswith(time.split()[0])


def test_an_answer_that_cannot_be_read_fails_its_call_alone(
    loop: Loop, caplog: pytest.LogCaptureFixture
) -> None:
    unreadable = loop.ask("select 1 as a, 'infinity'::date as b")
    assert unreadable.failure is not None
    assert (unreadable.failure.unreadable, unreadable.failure.lost) == (True, False)
    assert unreadable.rows == []
    assert "cannot read the answer to select 1 as a" in caplog.text
    assert loop.ask("select 2").value() == 2
    assert loop.link.connects == 1


def test_bytes_that_are_not_text_fail_their_call_alone(loop: Loop) -> None:
    link = loop.connected()
    values: list[str | bytes] = ["a", b"\xff", "\ud800", "b"]
    calls = [link.send(Query("select {}::text", (value,))) for value in values]
    loop.until(lambda: calls[-1].done)
    assert [call.value() for call in calls] == ["a", None, None, "b"]
    assert all(call.failure is not None and call.failure.by_data for call in calls[1:3])
    assert link.connects == 1


SESSION_SETTINGS = [
    "datestyle = 'German'",
    "datestyle = 'SQL, DMY'",
    "intervalstyle = 'iso_8601'",
    "timezone = '<+0345>-03:45'",
    "client_encoding = 'LATIN1'",
    "bytea_output = 'escape'",
    "standard_conforming_strings = off",
    "escape_string_warning = on",
]


@pytest.mark.parametrize("setting", SESSION_SETTINGS)
def test_settings_of_the_database_change_no_value(base: Database, setting: str) -> None:
    base.conn.execute(f"alter database {base.conn.info.dbname} set {setting}")  # type: ignore[arg-type]
    loop = Loop(base.dsn, 30)
    text = "select {}::text as a, '2026-02-03 04:05'::timestamptz as b, '36 h 1.5 s'::interval as c"
    row = loop.ask(text + ", 0.1::float8 as d", "é\\' 😀").rows[0]
    assert row.pop("b").startswith("2026-02-03 04:05:00")
    assert row == {"a": "é\\' 😀", "c": timedelta(hours=36, seconds=1.5), "d": 0.1}
    loop.link.close()


def test_a_soft_call_commits_without_the_disk_and_leaves_no_trace(loop: Loop) -> None:
    show = "select current_setting('synchronous_commit')"
    assert loop.ask(show, soft=True).value() == "off"
    assert loop.ask(show).value() == "on"


def test_an_error_ends_one_call_only(loop: Loop) -> None:
    failed = loop.ask("select 1 / {}", 0)
    assert failed.failure is not None
    assert (failed.failure.sqlstate, failed.failure.by_data, failed.failure.lost) == (
        "22012",
        True,
        False,
    )
    assert failed.rows == [], "not even those of the statements before it"
    assert loop.ask("select 2").value() == 2


def test_columns_are_picked_by_name(loop: Loop) -> None:
    call = loop.ask("select 1 as a, 2 as b, n as c from generate_series(3, 4) n")
    assert list(call.pick("c", "a")) == [(3, 1), (4, 1)]
    none = loop.ask("select 1 as a, 2 as b where false")
    assert list(none.pick("b", "a")) == []


def test_calls_are_answered_in_order(loop: Loop) -> None:
    link = loop.connected()
    calls = [link.send(Query("select {}::int", (n,))) for n in range(20)]
    loop.until(lambda: calls[-1].done)
    assert [call.value() for call in calls] == list(range(20))


def test_a_value_larger_than_the_socket_takes_goes_through(loop: Loop) -> None:
    assert loop.ask("select length({})", "x" * 5_000_000).value() == 5_000_000


def test_the_link_gives_up_on_a_server_that_does_not_answer(base: Database) -> None:
    loop = Loop(base.dsn, 0.3)
    link = loop.connected()
    base.conn.execute("create table held (i int)")
    with base.conn.transaction():
        base.conn.execute("lock table held")
        call = link.send(Query("select * from held"))
        loop.until(lambda: call.done)
    assert call.failure is not None
    loop.until(lambda: link.up)
    loop.until(lambda: loop.ask("select 3").value() == 3)
    link.close()


def test_it_reconnects_and_listens_again(loop: Loop, base: Database) -> None:
    call = loop.connected().listen("somewhere")
    loop.until(lambda: call.done)
    cut = "select pg_terminate_backend(pid) from pg_stat_activity"
    cut += " where application_name = 'test of link'"
    assert base.one(cut)
    loop.until(lambda: not loop.link.up)
    assert loop.ask("select 1").failure is None
    base.conn.execute("notify somewhere, 'hello'")
    loop.until(lambda: loop.link.notifications)
    assert list(loop.link.notifications) == [("somewhere", "hello")]


def test_calls_fail_at_once_while_there_is_no_connection() -> None:
    loop = Loop("host=127.0.0.1 port=1 dbname=x", 1)
    call = loop.link.send(Query("select 1"))
    assert call.done
    assert call.failure is not None
    assert call.failure.lost
    until(lambda: loop.turn() or loop.link.trouble, "the refusal")
    assert not loop.link.up


SETTINGS = ("statement_timeout", "default_transaction_isolation", "intervalstyle", "datestyle")
SHOWN = " || ' ' || ".join(f"current_setting('{name}')" for name in SETTINGS)
QUERY = f"select {SHOWN} as shown, query from pg_stat_activity where pid = pg_backend_pid()"


def test_a_session_of_its_own_has_the_settings_of_all_calls(base: Database) -> None:
    """So that no call has to say them."""
    base.conn.execute(
        f"alter database {base.conn.info.dbname} set default_transaction_isolation = 'serializable'"  # type: ignore[arg-type]
    )
    loop = Loop(base.dsn, 30)
    for _ in range(2):
        (row,) = loop.ask(QUERY).rows
        assert row["shown"] == "27s read committed postgres ISO, MDY"
        assert row["query"] == QUERY
        assert loop.ask("show transaction_isolation").value() == "read committed"
        assert loop.ask("select 1 / {}::int", 0).failure, "what is undone is that call only"
        assert loop.ask("show statement_timeout").value() == "27s"
        loop.ask("select pg_terminate_backend(pg_backend_pid())")  # the next one gets them too
    loop.link.close()


def test_a_link_that_shares_its_session_says_the_settings_in_each_call(base: Database) -> None:
    loop = Loop(base.dsn, 30, prepare=False)
    (row,) = loop.ask(QUERY).rows
    assert row["shown"] == "27s read committed postgres ISO, MDY"
    assert row["query"].startswith("set transaction isolation level read committed; set local ")
    loop.link.close()
