"""The engine decides the same whatever the session that asks has set.

PL/pgSQL parses a statement when a session first runs it, with that session's settings. Any login
may change most of them, and behind a pool one client changes them for the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb
from psycopg.types.string import TextLoader

from support.servers import ROOT, Server

Session = psycopg.Connection[Any]
DEFINITIONS = (ROOT / "tests" / "security" / "whole_life.sql").read_text(encoding="utf-8")

# Settings that one session may have together, so that few lives show all of them.
SETTINGS = {
    "texts": """
        set escape_string_warning = off; set standard_conforming_strings = off;
        set intervalstyle = sql_standard; set datestyle = 'German';
        set timezone = 'Pacific/Kiritimati'; set timezone_abbreviations = 'Australia';
        set extra_float_digits = -15; set bytea_output = escape; set transform_null_equals = on;
        set array_nulls = off; set quote_all_identifiers = on; set backslash_quote = off;
        set xmloption = document; set xmlbinary = hex; set client_encoding = 'LATIN1';
        set default_toast_compression = 'pglz'; set search_path = '';
        set lc_numeric = 'C'; set lc_monetary = 'C'; set lc_time = 'C'""",
    "intervals_of_iso": """
        set intervalstyle = iso_8601; set datestyle = 'SQL, DMY'; set timezone = 'Europe/Berlin'""",
    "verbose_intervals": """
        set intervalstyle = postgres_verbose; set timezone = '<+00>-00:30'""",
    "serializable": """
        set default_transaction_isolation = 'serializable';
        set default_transaction_deferrable = on; set row_security = off""",
    "repeatable_read": "set default_transaction_isolation = 'repeatable read'",
    "strict_plpgsql": """
        load 'plpgsql'; set plpgsql.extra_errors = 'all'; set check_function_bodies = off""",
    "ambiguous_columns": """
        load 'plpgsql'; set plpgsql.variable_conflict = 'use_variable';
        set plpgsql.check_asserts = off""",
    "parallel": """
        set parallel_setup_cost = 0; set parallel_tuple_cost = 0;
        set min_parallel_table_scan_size = 0; set max_parallel_workers_per_gather = 2""",
    "no_loops": """
        set join_collapse_limit = 1; set from_collapse_limit = 1; set enable_nestloop = off;
        set enable_indexscan = off; set enable_indexonlyscan = off;
        set plan_cache_mode = force_custom_plan; set work_mem = '64kB'""",
    "loops_only": """
        set geqo_threshold = 2; set geqo_seed = 0.7; set enable_hashjoin = off;
        set enable_mergejoin = off; set enable_sort = off; set enable_seqscan = off;
        set jit = on; set jit_above_cost = 0; set constraint_exclusion = on;
        set gin_fuzzy_search_limit = 1; set cursor_tuple_fraction = 1""",
    "all_messages": "set client_min_messages = debug5",
    "short_lock_timeout": """
        set lock_timeout = '1ms'; set synchronous_commit = off; set statement_timeout = '30s'""",
    "nonsense_in_hints": """
        set qwf.put_off = '1 0 cpu'; set qwf.turn_1 = '[1'; set qwf.acting_for = 'ada'""",
    "foreign_hints": """
        select set_config('qwf.acting_for', repeat(chr(27) || '[2J', 1000000), false)""",
}


def output_of(node: str | None) -> dict[str, Any]:
    """Output of the body of a node; the map walks over the list of s/a."""
    items = [{"v": i, "t": str(i) if i % 2 else "q"} for i in range(5)]
    return {"n": 4, "list": items} if node == "s/a" else {"r": node}


def live(session: Session) -> dict[str, Any]:
    """Run one whole life of an engine in a session, and return all that it decided."""
    errors: list[tuple[str, str | None]] = []

    def ask(query: str, *values: Any) -> list[tuple[Any, ...]]:
        try:
            cursor = session.execute(query, values or None)
            return cursor.fetchall() if cursor.description else []
        except psycopg.Error as error:
            errors.append((query, error.sqlstate))
            return []

    session.adapters.register_loader("timestamptz", TextLoader)  # psycopg reads ISO dates only
    for statement in DEFINITIONS.split(";\n")[:-1]:
        ask(statement)
    enqueue_run = "select qwf.enqueue_run('w', %s, key => 'k')"
    ask(enqueue_run, Jsonb({"who": "Ada"}))
    ask(enqueue_run, Jsonb({"who": "Ada"}))
    ask("select qwf.enqueue_run('w', %s)", Jsonb({"who": 12345}))
    ask("select qwf.enqueue_run('w', '{}')")
    ask("select qwf.enqueue_run('none')")
    ask("select qwf.submit_input(1, 'ask', '0')")
    ask("select qwf.submit_input(1, 'ask', '4')")
    solo = "select qwf.enqueue('solo', queue => 'cpu', key => 'x', backoff => %s)"
    ask(solo, Jsonb({"base": 1}))
    ask(solo, Jsonb({"base": 1}))
    ask("select qwf.enqueue('has blank', queue => 'cpu')")
    jobs = [
        {"task": "t", "queue": "cpu", "key": "y", "timeout": "1 day"},
        {"task": "t", "queue": "cpu", "run_at": "2100-01-31T12:00Z"},
    ]
    ask("select * from qwf.enqueue_many(%s)", Jsonb(jobs))
    claimed = work(ask)
    ask("select qwf.tick()")
    return {
        "errors": errors,
        "claimed": claimed,
        "jobs": ask(
            "select coalesce(node_id, task), status::text, output, attempt, failures,"
            " extract(epoch from timeout)::int, last_error from qwf.job_details order by 1, id"
        ),
        "runs": ask("select id, status::text, context, error from qwf.runs order by id"),
        "schedules": ask(
            "select name, enabled, extract(epoch from next_at)::bigint from qwf.schedules"
            " where cron is not null"
        ),
        "invariants": ask("select * from qwf.check_invariants()"),
    }


def work(ask: Callable[..., list[tuple[Any, ...]]]) -> list[tuple[Any, ...]]:
    """Work off what there is; s/f always fails, s/m[1] too, s/a at first."""
    claim = (
        "select job_id, token, node_id, task, inputs, extract(epoch from timeout)::int"
        " from qwf.claim('cpu', 'me', 3)"
    )
    claimed: list[tuple[Any, ...]] = []
    for _ in range(60):
        batch = ask(claim)
        if not batch:
            ask("select qwf.tick()")
            batch = ask(claim)
        if not batch:
            break
        for job, token, node, task, inputs, timeout in batch:
            first = node == "s/a" and not any(c[0] == "s/a" for c in claimed)
            outcome = "error" if first or node == "s/f" else "completed"
            outcome = "fatal" if node == "s/m[1]" else outcome
            claimed.append((node or task, inputs, timeout))
            finish = "select qwf.finish(%s, %s, %s, %s, 'boom')"
            ask(finish, job, token, outcome, Jsonb(output_of(node)))
    return sorted(claimed, key=str)


@pytest.fixture(scope="module")
def expected(server: Server, template: str) -> dict[str, Any]:
    with (
        server.database(server.new_name(), template) as janitor,
        psycopg.connect(server.dsn(janitor.dbname), autocommit=True) as session,
    ):
        return live(session)


def test_the_life_uses_what_it_should(expected: dict[str, Any]) -> None:
    life = expected
    assert [sqlstate for _, sqlstate in life["errors"]] == [
        "QW005", "QW005", "QW001", "QW005", "QW005",
    ]  # fmt: skip
    assert [run[1] for run in life["runs"]] == ["completed"]
    assert {job[1] for job in life["jobs"]} >= {"completed", "failed", "skipped", "scheduled"}
    assert len(life["claimed"]) > 10
    assert life["invariants"] == []


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS.keys())
def test_a_setting_of_the_caller_changes_nothing(
    dsn: str, expected: dict[str, Any], settings: str
) -> None:
    with psycopg.connect(dsn, autocommit=True) as session:
        session.execute(settings)
        life = live(session)
    assert life == expected
