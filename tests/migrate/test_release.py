"""Releases: what the tool refuses, what it writes, and that all ways lead to the same schema."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from qwf_agent import __version__, migrate
from support.harness import until
from support.servers import Server
from support.sources import NEXT, NEXT_CHANGE, Sources
from support.sqitch import dump, needs_sqitch, sqitch

FIRST = f"@v{__version__}"
VERSION = "function qwf.version"
NOTE = "alter table qwf.jobs add column note {};\n"


def entries(server: Server, dsn: str) -> list[str]:
    """The entries of pg_dump, in no order."""
    return sorted(dump(server, dsn).split("\n\n"))


def test_the_tool_says_what_is_missing_and_writes_nothing(
    server: Server, tagged: Sources, tmp_path: Path
) -> None:
    sources = tagged.copy(tmp_path / "checkout")
    plan = sources.plan.read_text(encoding="utf-8")

    def refused(said: str, *, yes: bool = False) -> str:
        with pytest.raises(migrate.MigrateError, match=said) as error:
            sources.release(server, NEXT, yes=yes)
        assert sources.plan.read_text(encoding="utf-8") == plan
        return str(error.value)

    file = sources.find("view qwf.switched_off")
    file.write_text("-- More about it.\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
    refused("nothing has changed since the last release")
    sources.edit("function qwf.claim", "\nbegin\n", "\nbegin\n  perform 1;\n")
    refused(rf"qwf\.version\(\) does not return {NEXT}")
    sources.change()
    (sources.plan.parent / "releases" / "next.sql").unlink()
    assert refused(r"write into\s+sql/releases/next\.sql").splitlines()[1:] == [
        "alter table qwf.jobs add column note text;",
        "alter type qwf.claimed_job add attribute note text;",
    ]
    # rows that a source inserts are compared, too
    sources.edit("table _qwf.locks", "('tick'), ", "('tick'), ('tock'), ")
    types = "alter type qwf.claimed_job {} attribute note{};\n"
    lock = "insert into _qwf.locks values ('{}');\n"
    wrong = types.format("add", " text") + NOTE.format("int") + lock.format("tack")
    sources.write("releases/next.sql", wrong)
    back = types.format("drop", "") + "alter table qwf.jobs drop column note;\n"
    back += "delete from _qwf.locks where name = 'tick';\n"
    sources.write("releases/next.revert.sql", back)
    assert "view qwf.run_usage" in refused("lose what a site has built on them")
    different = refused("upgraded, a database differs from a new one", yes=True).splitlines()
    assert different[1:4] == [
        "jobs; Type: TABLE; Schema: qwf", "  -     note integer", "  +     note text",
    ]  # fmt: skip
    assert different[4] == "rows of _qwf.locks"
    right = wrong.replace("int;", "text;").replace("tack", "tock")
    sources.write("releases/next.sql", right)
    back = refused("reverted, a database differs from before", yes=True)
    assert "rows of _qwf.locks" in back


def test_what_a_release_is_made_of(next_release: Sources) -> None:
    sql = next_release.plan.parent
    plan = next_release.plan.read_text(encoding="utf-8").splitlines()
    assert plan[3] == ""  # sqitch wants that line behind its pragmas
    assert [line.split()[0] for line in plan[4:]] == [
        f"releases/{__version__}", FIRST, NEXT_CHANGE, f"@v{NEXT}",
    ]  # fmt: skip
    script = (sql / f"{NEXT_CHANGE}.sql").read_text(encoding="utf-8")
    assert "drop function _qwf.as_number(p_value jsonb, p_limit numeric);" in script
    assert "create or replace function qwf.claim(" in script
    assert "create or replace function qwf.enqueue(" not in script  # it has other arguments
    for kind in ("", "revert/", "verify/"):
        assert (sql / f"{kind}releases/{__version__}.sql").is_file()
        assert (sql / f"{kind}{NEXT_CHANGE}.sql").is_file()
    assert not list(sql.glob("releases/next*"))


def test_the_revert_of_a_release_is_never_derived(next_release: Sources, tmp_path: Path) -> None:
    sources = next_release.copy(tmp_path / "checkout")
    (sources.plan.parent / "revert" / f"{NEXT_CHANGE}.sql").unlink()
    with pytest.raises(migrate.MigrateError, match="cannot read"):
        migrate.read_plan(sources.plan).changes[-1].revert.read()


def test_upgraded_and_new_databases_are_equal_and_go_back(
    server: Server, upgraded_dsn: str, tagged: Sources, next_release: Sources
) -> None:
    before = entries(server, upgraded_dsn)
    assert migrate.deploy(upgraded_dsn, plan=next_release.plan) == [NEXT_CHANGE]
    after = entries(server, upgraded_dsn)
    assert after != before
    with server.database(server.new_name()) as new:
        new_dsn = server.dsn(new.dbname)
        assert len(migrate.deploy(new_dsn, plan=next_release.plan)) == 2
        assert entries(server, new_dsn) == after
        migrate.verify(new_dsn, plan=next_release.plan)
        with pytest.raises(migrate.MigrateError, match="another version deployed this database"):
            migrate.deploy(new_dsn, plan=tagged.plan)  # a downgrade
        migrate.revert(new_dsn, plan=next_release.plan)
    migrate.revert(upgraded_dsn, to=FIRST, plan=next_release.plan)
    assert entries(server, upgraded_dsn) == before


@needs_sqitch
def test_sqitch_upgrades_and_reverts_to_the_same_schemas(
    server: Server, upgraded_dsn: str, next_release: Sources
) -> None:
    before = entries(server, upgraded_dsn)
    migrate.deploy(upgraded_dsn, plan=next_release.plan)
    with server.database(server.new_name()) as theirs:
        dsn = server.dsn(theirs.dbname)
        sqitch(next_release.folder, "deploy", "--to", FIRST, dsn=dsn)
        assert entries(server, dsn) == before
        sqitch(next_release.folder, "deploy", dsn=dsn)
        assert entries(server, dsn) == entries(server, upgraded_dsn)
        sqitch(next_release.folder, "verify", dsn=dsn)
        sqitch(next_release.folder, "revert", "-y", "--to", FIRST, dsn=dsn)
        assert entries(server, dsn) == before


def test_what_was_made_by_hand_is_named_as_the_doctor_does(
    upgraded_dsn: str, next_release: Sources
) -> None:
    plan = next_release.plan
    with psycopg.connect(upgraded_dsn, autocommit=True) as conn:
        conn.execute(
            "create function qwf.worker_alive(n int) returns int language sql as 'select 1'"
        )
        said = r"function qwf\.worker_alive exists 2 times, with different arguments; do not change"
        with pytest.raises(migrate.MigrateError, match=said):
            migrate.deploy(upgraded_dsn, plan=plan)
        assert migrate.status(upgraded_dsn, plan=plan)[-1].state == migrate.PENDING
        conn.execute("drop function qwf.worker_alive(int)")
        conn.execute(
            "create or replace function qwf.version() returns text language sql immutable"
            " as $$select '0.0.1'::text$$"
        )
    lines: list[str] = []
    assert migrate.deploy(upgraded_dsn, plan=plan, say=lines.append) == [NEXT_CHANGE]
    assert any("qwf.version differs from the shipped one, and is replaced" in x for x in lines)


def test_a_release_without_a_way_back_says_so(
    server: Server, tagged: Sources, upgraded_dsn: str, tmp_path: Path
) -> None:
    sources = tagged.copy(tmp_path / "checkout")
    sources.edit(VERSION, __version__, NEXT)
    sources.append("table qwf.jobs", "comment on column qwf.jobs.note is 'What is noted.';")
    sources.edit("table qwf.jobs", "\n) with", ",\n  note text\n) with")
    sources.write("releases/next.sql", NOTE.format("text"))
    assert "there is no way back: nobody has written next.revert.sql" in sources.release(
        server, NEXT
    )
    migrate.deploy(upgraded_dsn, plan=sources.plan)
    with pytest.raises(migrate.MigrateError, match="nobody has written a way back; restore"):
        migrate.revert(upgraded_dsn, to=FIRST, plan=sources.plan)
    assert migrate.status(upgraded_dsn, plan=sources.plan)[-1].state == "deployed"


def test_a_release_that_is_killed_has_changed_nothing(
    server: Server, upgraded_dsn: str, next_release: Sources
) -> None:
    before = entries(server, upgraded_dsn)
    code = (
        "import sys; from qwf_agent import migrate; migrate.deploy(sys.argv[1], plan=sys.argv[2])"
    )
    waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query ~ %s"
    with (
        psycopg.connect(upgraded_dsn) as reader,
        psycopg.connect(upgraded_dsn, autocommit=True) as conn,
    ):
        conn.execute("select count(qwf.enqueue('t')) from generate_series(1, 10)")
        reader.execute("select count(*) from qwf.jobs")  # its lock stays until it commits
        deploying = subprocess.Popen(
            [sys.executable, "-c", code, upgraded_dsn, str(next_release.plan)]
        )
        until(lambda: conn.execute(waiting, [NEXT]).fetchone() == (1,), "the script to wait")
        deploying.kill()
        deploying.wait()
        until(lambda: conn.execute(waiting, [NEXT]).fetchone() == (0,), "the server to give up")
    assert entries(server, upgraded_dsn) == before
    assert migrate.status(upgraded_dsn, plan=next_release.plan)[-1].state == migrate.PENDING
    assert migrate.deploy(upgraded_dsn, plan=next_release.plan) == [NEXT_CHANGE]
    with psycopg.connect(upgraded_dsn) as conn:
        assert conn.execute("select count(*), count(note) from qwf.jobs").fetchone() == (10, 0)


def test_a_database_of_a_release_follows_the_sources_until_the_next(
    server: Server, upgraded_dsn: str, next_release: Sources, tmp_path: Path
) -> None:
    sources = next_release.copy(tmp_path / "checkout")
    assert migrate.deploy(upgraded_dsn, plan=sources.plan) == [NEXT_CHANGE]
    sources.edit(VERSION, f"{NEXT}'", f"{NEXT}1'")
    assert migrate.deploy(upgraded_dsn, plan=sources.plan) == [VERSION]
    with server.database(server.new_name()) as janitor:  # so does a new one
        dsn = server.dsn(janitor.dbname)
        sources.edit(VERSION, "$$select", "$$select nothing,")
        with pytest.raises(migrate.MigrateError, match=r"sql:\d+: qwf\.version: column .nothing"):
            migrate.deploy(dsn, plan=sources.plan)
        sources.edit(VERSION, "$$select nothing,", "$$select")
        migrate.deploy(dsn, plan=sources.plan)
        assert entries(server, dsn) == entries(server, upgraded_dsn)
        sources.edit(VERSION, f"{NEXT}1'", f"{NEXT}2'")
        assert migrate.deploy(dsn, plan=sources.plan) == [VERSION]
        with psycopg.connect(dsn) as conn:
            assert conn.execute("select qwf.version()").fetchone() == (f"{NEXT}2",)
            marks = conn.execute("select count(*) from qwf_migrations._yoyo_migration").fetchone()
        assert marks == (2,)
