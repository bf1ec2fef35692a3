"""A development database follows the sources, and keeps its data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from qwf_agent import migrate
from support.servers import Server
from support.sources import Sources
from support.sqitch import dump

VERSION = "function qwf.version"
NOTE = "note text check (octet_length(note) <= 500)"
MARKS = """
    select migration_hash, migration_id, script_hash, applied_at_utc is null
    from qwf_migrations._yoyo_migration order by migration_id"""


@pytest.fixture(scope="module")
def unedited(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    return Sources.copied(tmp_path_factory.mktemp("sources") / "checkout")


@pytest.fixture
def sources(unedited: Sources, tmp_path: Path) -> Sources:
    return unedited.copy(tmp_path / "checkout")


@pytest.fixture(scope="module")
def deployed(server: Server, unedited: Sources) -> Iterator[str]:
    """Name of a database with jobs that follows the sources, to clone from."""
    with server.database(server.new_name(), as_template=True) as janitor:
        name = janitor.template_dbname or janitor.dbname
        migrate.deploy(server.dsn(name), plan=unedited.plan)
        with psycopg.connect(server.dsn(name)) as conn:
            conn.execute("select count(qwf.enqueue('t')) from generate_series(1, 20)")
        yield name


@pytest.fixture
def followed_dsn(server: Server, deployed: str) -> Iterator[str]:
    with server.database(server.new_name(), deployed) as janitor:
        yield server.dsn(janitor.dbname)


def entries(server: Server, dsn: str) -> list[str]:
    """The entries of pg_dump, in no order."""
    return sorted(dump(server, dsn).split("\n\n"))


def is_as_new(server: Server, dsn: str, sources: Sources) -> bool:
    """Return True if a database and its marks are those of a new one with these sources."""
    with server.database(server.new_name()) as janitor:
        new = server.dsn(janitor.dbname)
        migrate.deploy(new, plan=sources.plan)
        with psycopg.connect(new) as theirs, psycopg.connect(dsn) as ours:
            assert ours.execute(MARKS).fetchall() == theirs.execute(MARKS).fetchall()
        return entries(server, new) == entries(server, dsn)


def jobs(dsn: str) -> int:
    with psycopg.connect(dsn) as conn:
        row = conn.execute("select count(*) from qwf.jobs").fetchone()
    assert row
    return int(row[0])


def test_what_differs_is_replaced_and_the_jobs_stay(
    server: Server, followed_dsn: str, sources: Sources
) -> None:
    assert migrate.deploy(followed_dsn, plan=sources.plan) == []
    sources.edit(VERSION, "select '", "select '9.")
    sources.edit("function _qwf.as_number", ") returns", ", p_more int default 6) returns")
    sources.rename("function qwf.worker_alive", "worker_lives")
    sources.edit("view qwf.switched_off", "c.queue,", "c.queue, c.desired_state as state,")
    sources.append("view qwf.switched_off", "comment on column qwf.switched_off.state is 'Off.';")
    sources.append("table qwf.jobs", "create index jobs_noted on qwf.jobs (id);")
    done = migrate.deploy(followed_dsn, plan=sources.plan)
    assert {VERSION, "view qwf.switched_off", "table qwf.jobs"} < set(done)
    assert {"function qwf.worker_alive", "function qwf.worker_lives"} < set(done)
    assert "view qwf.run_usage" in done  # it calls what got another signature
    assert is_as_new(server, followed_dsn, sources)
    assert jobs(followed_dsn) == 20
    assert migrate.deploy(followed_dsn, plan=sources.plan) == []
    assert len(migrate.verify(followed_dsn, plan=sources.plan)) > 50


def test_a_table_needs_a_statement_and_the_deploy_says_which(
    server: Server, followed_dsn: str, sources: Sources
) -> None:
    sources.edit("table qwf.jobs", "\n) with", f",\n  {NOTE}\n) with")
    sources.append("table qwf.jobs", "comment on column qwf.jobs.note is 'What is noted.';")
    with pytest.raises(migrate.MigrateError, match=r"next\.sql") as refused:
        migrate.deploy(followed_dsn, plan=sources.plan)
    wanted = f"alter table qwf.jobs add column {NOTE};"
    assert str(refused.value).splitlines()[1:] == [wanted]
    sources.write("releases/next.sql", f"-- A note.\n{wanted}\n")
    assert migrate.deploy(followed_dsn, plan=sources.plan) == ["table qwf.jobs"]
    assert is_as_new(server, followed_dsn, sources)
    assert jobs(followed_dsn) == 20
    sources.edit(VERSION, "select '", "select '9.")
    assert migrate.deploy(followed_dsn, plan=sources.plan) == [VERSION]  # and no second column

    sources.edit("table qwf.jobs", f",\n  {NOTE}", f",\n  more int,\n  {NOTE}")
    sources.write("releases/next.sql", f"{wanted}\nalter table qwf.jobs add column more int;\n")
    with pytest.raises(migrate.MigrateError, match="in another order; a new column stands last"):
        migrate.deploy(followed_dsn, plan=sources.plan)


@pytest.mark.parametrize(
    ("key", "right", "wrong", "said"),
    [
        (
            "function qwf.claim",
            "\nbegin\n",
            "\nbegin\n  perform 1,;\n",
            r"qwf\.claim: syntax error",
        ),
        (
            "function qwf.claim",
            "\nbegin\n",
            "\nbegin\n  v_nothing := 1;\n",
            r"qwf\.claim: .*v_nothing",
        ),
        (VERSION, "select '", "select nothing, '", 'column "nothing" does not exist'),
        ("view qwf.switched_off", "c.queue,", "c.queue, c.nothing,", r"c\.nothing does not exist"),
    ],
)
def test_a_mistake_is_named_with_its_place_and_changes_nothing(
    followed_dsn: str, sources: Sources, key: str, right: str, wrong: str, said: str
) -> None:
    sources.edit("function qwf.worker_alive", "security definer", "cost 7 security definer")
    file = sources.edit(key, right, wrong)
    line = file.read_text(encoding="utf-8").partition(wrong.strip("\n"))[0].count("\n") + 1
    with pytest.raises(migrate.MigrateError, match=f"nothing was changed: .*{said}") as refused:
        migrate.deploy(followed_dsn, plan=sources.plan)
    place = str(refused.value).removeprefix(f"nothing was changed: {file}:").partition(":")[0]
    assert abs(int(place) - line) <= 1, refused.value
    sources.edit(key, wrong, right)
    assert migrate.deploy(followed_dsn, plan=sources.plan) == ["function qwf.worker_alive"]


def test_comments_and_places_are_no_difference(followed_dsn: str, sources: Sources) -> None:
    file = sources.find(VERSION)
    file.write_text("-- More about it.\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
    assert [one.state for one in migrate.missing(followed_dsn, plan=sources.plan)] == ["changed"]
    with pytest.raises(migrate.MigrateError, match="qwf migrate deploy replaces what differs"):
        migrate.verify(followed_dsn, plan=sources.plan)
    assert migrate.deploy(followed_dsn, plan=sources.plan) == []
    assert migrate.missing(followed_dsn, plan=sources.plan) == []


def test_a_function_made_by_hand_is_named_as_the_doctor_does(
    followed_dsn: str, sources: Sources
) -> None:
    sources.edit(VERSION, "select '", "select '9.")
    with psycopg.connect(followed_dsn) as conn:
        conn.execute("create function qwf.version(n int) returns int language sql as 'select n'")
    with pytest.raises(migrate.MigrateError, match=r"qwf\.version exists 2 times, with different"):
        migrate.deploy(followed_dsn, plan=sources.plan)


def test_what_is_reverted_is_followed_no_more(followed_dsn: str, sources: Sources) -> None:
    names = [change.name for change in migrate.read_plan(sources.plan).changes]
    assert migrate.revert(followed_dsn, plan=sources.plan) == names[::-1]
    sources.edit(VERSION, "select '", "select '9.")
    assert migrate.deploy(followed_dsn, plan=sources.plan) == names
