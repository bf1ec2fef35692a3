"""qwf migrate: the schema from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg

from qwf_agent import migrate as migrations
from support.welcome import Cli


def test_deploys_shows_verifies_and_reverts(qwf: Cli, empty_dsn: str) -> None:
    def migrate(*words: str) -> tuple[int, str]:
        result = qwf("migrate", *words, "--dsn", empty_dsn)
        assert "Traceback" not in result.output
        return result.exit_code, result.stdout

    assert migrate("status")[0] == 1
    code, said = migrate("deploy", "--dry-run", "--to", "schema/roles")
    assert (code, said) == (1, "+ schema/qwf\n+ schema/roles\n2 changes to deploy\n")
    code, said = migrate("deploy")
    assert code == 0
    assert "changes deployed" in said
    assert migrate("deploy") == (0, "up to date\n")
    assert migrate("deploy", "--dry-run") == (0, "up to date\n")
    code, listed = migrate("status", "--json")
    assert code == 0
    assert {change["state"] for change in json.loads(listed)} == {"deployed"}
    assert migrate("verify")[0] == 0
    assert migrate("revert", "--yes")[0] == 0
    with psycopg.connect(empty_dsn) as conn:
        assert conn.execute("select to_regnamespace('qwf')").fetchone() == (None,)


def test_a_deploy_says_which_cell_the_database_is(qwf: Cli, dsn: str) -> None:
    deploy = ("migrate", "deploy", "--dsn", dsn)
    announced = qwf(*deploy, "--cell", "3/16", "--dry-run")
    assert (announced.exit_code, announced.stdout) == (1, "+ cell 3/16\n1 change to deploy\n")
    done = qwf(*deploy, "--cell", "3/16")
    assert (done.exit_code, done.stdout) == (0, "up to date\nthis is cell 3 of 16\n")
    assert qwf("enqueue", "t", "--dsn", dsn).exit_code == 0
    assert qwf(*deploy, "--cell", "3/16", "--dry-run").stdout == "up to date\n"
    for dry in ([], ["--dry-run"]):
        refused = qwf(*deploy, "--cell", "4/16", *dry)
        assert refused.exit_code == 1
        assert "given out ids" in refused.stderr
        assert "it is cell 3 of 16, not 4 of 16" in refused.stderr
        assert "leave out --cell to keep it" in refused.stderr
    assert "numbered from 0" in qwf(*deploy, "--cell", "16/16").stderr
    for more in (("--to", "schema/jobs"), ("--plan", __file__)):
        assert qwf(*deploy, "--cell", "3/16", *more).exit_code == 2
    assert "cell 3 of 16" in qwf("migrate", "sql", "--cell", "3/16").stdout


def test_a_deploy_to_another_cell_is_refused_before_it_changes_anything(qwf: Cli, dsn: str) -> None:
    deploy = ("migrate", "deploy", "--dsn", dsn)
    *_, before, last = (change.change for change in migrations.status(dsn))
    assert qwf("enqueue", "t", "--dsn", dsn).exit_code == 0
    assert qwf("migrate", "revert", "--to", before, "--yes", "--dsn", dsn).exit_code == 0
    kept = qwf(*deploy, "--cell", "0/1", "--dry-run")
    assert (kept.exit_code, kept.stdout) == (1, f"+ {last}\n1 change to deploy\n")
    for dry in (["--dry-run"], []):
        refused = qwf(*deploy, "--cell", "1/2", *dry)
        assert (refused.exit_code, refused.stdout) == (1, "")
        assert "given out ids" in refused.stderr
    assert [s.change for s in migrations.missing(dsn)] == [last]


def test_revert_asks_first(qwf: Cli, dsn: str) -> None:
    result = qwf("migrate", "revert", "--dsn", dsn, stdin="n\n")
    assert result.exit_code != 0
    with psycopg.connect(dsn) as conn:
        assert conn.execute("select qwf.version() is not null").fetchone() == (True,)


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
    assert qwf("migrate", "adopt", "--dsn", empty_dsn).exit_code == 0
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


def test_a_log_gets_no_line_for_each_change(qwf: Cli, empty_dsn: str) -> None:
    assert "functions/claim/claim" not in qwf("migrate", "deploy", "--dsn", empty_dsn).output
    said = qwf("migrate", "revert", "--yes", "--verbose", "--dsn", empty_dsn)
    assert "- functions/claim/claim\n" in said.stderr


def test_path_is_where_the_plan_is(qwf: Cli) -> None:
    assert (Path(qwf("migrate", "path").stdout.strip()) / "sqitch.plan").is_file()
