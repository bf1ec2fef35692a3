"""qwf migrate: the schema from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg
import pytest

from qwf_agent import migrate as migrations
from support.sources import before_releases
from support.thorough import THOROUGH
from support.welcome import Cli


@before_releases
def test_deploys_shows_verifies_and_reverts(qwf: Cli, empty_dsn: str) -> None:
    """A log gets no line for each change unless it is asked for them."""

    def migrate(*words: str) -> tuple[int, str]:
        result = qwf("migrate", *words, "--dsn", empty_dsn)
        assert "Traceback" not in result.output
        assert ("- functions/claim/claim\n" in result.stderr) == ("--verbose" in words)
        assert ("functions/claim/claim" in result.stderr) == ("--verbose" in words)
        return result.exit_code, result.stdout

    assert migrate("status")[0] == 1
    code, said = migrate("deploy", "--dry-run", "--to", "schema/who")
    assert (code, said) == (1, "+ schema/schemas\n+ schema/who\n2 changes to deploy\n")
    code, said = migrate("deploy")
    assert code == 0
    assert "changes deployed" in said
    assert "functions/claim/claim" not in said
    assert migrate("deploy") == (0, "up to date\n")
    assert migrate("deploy", "--dry-run") == (0, "up to date\n")
    code, listed = migrate("status", "--json")
    assert code == 0
    assert {change["state"] for change in json.loads(listed)} == {"deployed"}
    assert migrate("verify")[0] == 0
    assert migrate("revert", "--all", "--yes", "--verbose")[0] == 0
    assert migrate("revert", "--all") == (0, "nothing to revert\n")
    with psycopg.connect(empty_dsn) as conn:
        assert conn.execute("select to_regnamespace('qwf')").fetchone() == (None,)


def test_revert_asks_first(qwf: Cli, dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        conn.execute("drop schema qwf_test cascade")
    assert qwf("migrate", "revert", "--yes", "--dsn", dsn).exit_code == 2
    assert qwf("migrate", "revert", "--all", "--to", "schema/jobs", "--dsn", dsn).exit_code == 2
    assert qwf("enqueue", "t", "--dsn", dsn).exit_code == 0
    assert qwf("enqueue", "t", "--dsn", dsn).exit_code == 0
    assert qwf("cancel", "job", "1", "--dsn", dsn).exit_code == 0
    result = qwf("migrate", "revert", "--all", "--dsn", dsn)
    assert result.exit_code == 2
    assert "Add --yes: there is no terminal to ask on" in result.stderr
    assert "deletes 2 jobs (1 unfinished) and 0 runs (0 unfinished)" in result.stderr
    with psycopg.connect(dsn) as conn:
        assert conn.execute("select qwf.version() is not null").fetchone() == (True,)


@before_releases
def test_revert_names_what_uses_the_engine_and_reverts_nothing(qwf: Cli, dsn: str) -> None:
    """Each object of somebody else that would stop a revert half way."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("""
            drop schema qwf_test cascade;
            create schema shop;
            create view shop.waiting as select id from qwf.jobs where status = 'queued';
            create function shop.age(job qwf.jobs) returns int return 1;
            create function shop.several(jobs qwf.jobs[]) returns int return 1;
            create table shop.orders (
              id int, state qwf.job_status, at timestamptz default qwf.now(),
              job bigint references qwf.jobs);
            create index orders_open on shop.orders (id) where state = 'queued';
            create domain shop.state as qwf.run_status;
            create view qwf.mine as select 1 as one;
            create view shop.plain as select 1 as one;
        """)
        refused = qwf("migrate", "revert", "--all", "--yes", "--dsn", dsn)
        assert refused.exit_code == 1
        assert refused.stderr.split("revert again:\n")[1].splitlines() == [
            "column state of table shop.orders",
            "constraint orders_job_fkey on table shop.orders",
            "default value for column at of table shop.orders",
            "function shop.age(qwf.jobs)",
            "function shop.several(qwf.jobs[])",
            "index shop.orders_open",
            "type shop.state",
            "view qwf.mine",
            "view shop.waiting",
        ]
        assert {change.state for change in migrations.status(dsn)} == {"deployed"}
        with pytest.raises(migrations.MigrateError, match=r"view qwf\.mine"):
            migrations.revert(dsn)
        partly = qwf(
            "migrate", "revert", "--yes", "--to", "functions/metrics/figures", "--dsn", dsn
        )
        assert partly.exit_code == 0, "nobody uses what comes after it"
        conn.execute("drop schema shop cascade; drop view qwf.mine")
    if THOROUGH:  # another test reverts everything each time
        assert qwf("migrate", "revert", "--all", "--yes", "--dsn", dsn).exit_code == 0


@before_releases
def test_verify_says_that_changes_are_pending(qwf: Cli, dsn: str) -> None:
    *_, before, last = (change.name for change in migrations.read_plan().changes)
    migrations.revert(dsn, to=before)
    result = qwf("migrate", "verify", "--dsn", dsn)
    assert result.exit_code == 3
    assert "changes verified" in result.stdout
    assert result.stderr == f"1 pending, the first {last}: qwf migrate deploy\n"


def test_status_ends_with_a_sum_and_the_releases(qwf: Cli, empty_dsn: str, tmp_path: Path) -> None:
    plan = tmp_path / "sqitch.plan"
    line = "2026-01-02T03:04:05Z A Planner <a@shop.invalid>"
    plan.write_text(f"%project=shop\n\none {line}\n@v1 {line}\ntwo {line}\n@v2 {line}\n")
    for kind in ("deploy", "revert", "verify"):
        for name in ("one", "two"):
            (tmp_path / kind).mkdir(exist_ok=True)
            (tmp_path / kind / f"{name}.sql").write_text("select 1;")
    status = ("migrate", "status", "--plan", str(plan), "--dsn", empty_dsn)
    migrations.deploy(empty_dsn, to="@v1", plan=plan)
    listed = qwf(*status)
    assert listed.exit_code == 1
    assert listed.stdout.splitlines()[-2:] == [
        "2 changes: 1 deployed, 1 pending",
        "releases: @v1 deployed, @v2 not deployed",
    ]
    rows = json.loads(qwf(*status, "--json").stdout)
    assert [row["releases"] for row in rows] == [["@v1"], ["@v2"]]


def test_revert_to_an_unknown_change_is_refused(qwf: Cli, dsn: str) -> None:
    result = qwf("migrate", "revert", "--yes", "--to", "nonsense", "--dsn", dsn)
    assert result.exit_code == 1
    assert "nonsense" in result.stderr


def test_sql_prints_the_whole_schema(qwf: Cli, empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute(qwf("migrate", "sql").stdout)
        assert conn.execute("select qwf.version() is not null").fetchone() == (True,)


def test_a_schema_that_psql_deployed_is_adopted(qwf: Cli, empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute(qwf("migrate", "sql", "--no-transaction").stdout)
        conn.execute("alter table qwf.jobs add mine int")
        refused = qwf("migrate", "adopt", "--dsn", empty_dsn)
        assert refused.exit_code == 1
        assert "table qwf.jobs: mine is not shipped with this version" in refused.stderr
        assert "pip install 'qwf-agent[cli]==" in refused.stderr
        nothing = qwf("migrate", "verify", "--dsn", empty_dsn)
        assert nothing.exit_code == 1
        assert "no change is registered as deployed" in nothing.stderr
        conn.execute("alter table qwf.jobs drop mine")
    done = qwf("migrate", "adopt", "--dsn", empty_dsn)
    assert done.exit_code == 0, done.stderr
    assert qwf("migrate", "verify", "--dsn", empty_dsn).exit_code == 0


def test_status_of_a_schema_that_something_else_deployed_says_what_to_do(
    qwf: Cli, empty_dsn: str
) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute("create schema qwf")
    result = qwf("migrate", "status", "--dsn", empty_dsn)
    assert result.exit_code == 1
    assert "qwf migrate adopt if psql" in result.stderr
    assert "pending" not in result.stdout


def test_path_is_where_the_plan_is(qwf: Cli) -> None:
    assert (Path(qwf("migrate", "path").stdout.strip()) / "sqitch.plan").is_file()
