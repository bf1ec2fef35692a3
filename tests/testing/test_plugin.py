"""The fixtures, in a pytest of their own."""

from __future__ import annotations

import fcntl
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote, urlencode

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from qwf_agent import embedded
from qwf_agent.testing import databases
from qwf_agent.testing.databases import new_database
from support.harness import alive
from support.servers import ROOT

pytest_plugins = ["pytester"]
PLUGIN = ("-p", "qwf_agent.testing.plugin", "-p", "no:cacheprovider")
DATABASES = "select count(*) from pg_database where datname like 'qwf_test_%%'"

CONFTEST = """
import psycopg, pytest

@pytest.fixture(scope="session")
def qwf_template(qwf_template):
    with psycopg.connect(qwf_template) as conn:
        conn.execute("create table orders (email text primary key)")
    return qwf_template
"""
TWO_TESTS = """
import os, psycopg, pytest

@pytest.mark.parametrize("number", range(2))
def test_each_test_has_a_database_of_its_own(qwf_db, qwf_dsn, number):
    qwf_db.execute("insert into orders values ('ada@example.org')")
    qwf_db.execute("select qwf.enqueue('send_email')")
    assert qwf_db.execute("select count(*) from qwf.jobs").fetchone() == (1,)
    assert os.environ["QWF_DSN"] == qwf_dsn
"""


@pytest.fixture
def inner(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Another pytest, with the plugin."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python"))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name in ("QWF_TEST_DSN", "QWF_DSN", "PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)
    return pytester


@pytest.fixture
def given(empty_dsn: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The server of the tests, for the other pytest."""
    monkeypatch.setenv("QWF_TEST_DSN", empty_dsn)
    return empty_dsn


def test_all_processes_of_xdist_use_one_server_that_is_gone_at_the_end(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(inner.path))
    inner.makeconftest(CONFTEST)
    inner.makepyfile(
        TWO_TESTS
        + """
def test_where_it_is(qwf_server, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp().parent
    (folder / os.environ["PYTEST_XDIST_WORKER"]).write_text(qwf_server)

def test_where_it_is_again(qwf_server, tmp_path_factory):
    test_where_it_is(qwf_server, tmp_path_factory)
"""
    )
    options = ("-p", "xdist", "-n", "2", "--dist", "each", f"--basetemp={inner.path / 'base'}")
    inner.runpytest_subprocess(*PLUGIN, *options).assert_outcomes(passed=8)
    addresses = {(inner.path / "base" / name).read_text() for name in ("gw0", "gw1")}
    assert len(addresses) == 1
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(addresses.pop())
    assert list(inner.path.glob("qwf-tests-*")) == []


def test_the_server_of_a_pytest_that_was_killed_is_removed_by_the_next(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(inner.path))
    inner.makepyfile("""
import os, signal

def test_one(qwf_server):
    if "KILL" in os.environ:
        os.kill(os.getpid(), signal.SIGKILL)
""")
    with monkeypatch.context() as killing:
        killing.setenv("KILL", "1")
        assert inner.runpytest_subprocess(*PLUGIN).ret == -signal.SIGKILL
    (left,) = inner.path.glob("qwf-tests-*")
    pid = int((left / "postgres" / "postmaster.pid").read_text().split()[0])
    inner.runpytest_subprocess(*PLUGIN).assert_outcomes(passed=1)
    assert list(inner.path.glob("qwf-tests-*")) == []
    assert not alive(pid)


def test_on_a_given_server_only_the_tests_databases_come_and_go(
    inner: pytest.Pytester, given: str
) -> None:
    inner.makeconftest(CONFTEST)
    inner.makepyfile(TWO_TESTS + "    assert number < 1\n")
    with psycopg.connect(given) as conn:
        before = conn.execute(DATABASES).fetchone()
        tables = conn.execute("select count(*) from pg_class").fetchone()
        inner.runpytest_subprocess(*PLUGIN).assert_outcomes(passed=1, failed=1)
        assert conn.execute(DATABASES).fetchone() == before
        assert conn.execute("select count(*) from pg_class").fetchone() == tables


def test_a_template_that_somebody_uses_is_refused_by_name(empty_dsn: str) -> None:
    with (
        new_database(empty_dsn) as template,
        psycopg.connect(template),
        pytest.raises(RuntimeError, match="close every connection to qwf_template"),
        new_database(empty_dsn, template),
    ):
        pytest.fail("it was copied")


def test_the_name_in_the_query_of_a_url_is_replaced_too(empty_dsn: str) -> None:
    """libpq lets it win over the path."""
    parts = conninfo_to_dict(empty_dsn)
    given = urlencode(parts, quote_via=quote)
    with new_database(f"postgresql://{parts['user']}:a#b@/elsewhere?{given}") as address:
        for dsn, marked in ((address, True), (empty_dsn, False)):
            with psycopg.connect(dsn) as conn:
                assert databases.is_for_tests(conn) is marked
                assert (conn.info.dbname == parts["dbname"]) is not marked


def test_the_parts_of_a_url_stay_as_they_are(empty_dsn: str) -> None:
    server = "postgres://ada:a#%2F%20b@h1:1,[::1]:2/x?dbname=y&options=-c%20work_mem%3D1MB"
    address = databases._address(server, "new")
    assert conninfo_to_dict(address) == {**conninfo_to_dict(server), "dbname": "new"}


def test_an_address_that_always_leads_to_one_database_is_refused(
    empty_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As that of a pooler with `dbname` in its configuration."""
    monkeypatch.setattr(databases, "_address", lambda server, database: server)
    with psycopg.connect(empty_dsn) as conn:
        with pytest.raises(RuntimeError, match="and not to the new one"), new_database(empty_dsn):
            pytest.fail("it was taken for the new one")
        assert not databases.is_for_tests(conn)


def test_a_folder_that_another_run_removes_meanwhile_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, lock, removed = tmp_path / "qwf-tests-1", fcntl.flock, []

    def remove_first(descriptor: int, how: int) -> None:
        if not removed:
            removed.append(folder)
            databases.remove_server(folder)
        lock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", remove_first)
    databases.use(folder)
    assert removed
    with open(folder / "in-use", "rb+") as file, pytest.raises(BlockingIOError):
        lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    databases.remove_server(folder)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_another_run_has_just_removed_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "qwf-tests-1"
    folder.mkdir()
    monkeypatch.setattr(embedded.Cluster, "stop", lambda *_: shutil.rmtree(folder))
    databases.remove_server(folder)
    assert list(tmp_path.iterdir()) == []


def test_own_migrations_may_deploy_the_schema(inner: pytest.Pytester, given: str) -> None:
    inner.makeconftest(
        """
import pytest
from qwf_agent import migrate

@pytest.fixture(scope="session")
def qwf_template(qwf_blank):
    import psycopg
    with psycopg.connect(qwf_blank) as conn:
        conn.execute(migrate.script(transaction=False))
    return qwf_blank
"""
    )
    inner.makepyfile(
        "def test_one(qwf_db, qwf_clock): qwf_db.execute('select qwf.enqueue(%s)', ['x'])"
    )
    inner.runpytest_subprocess(*PLUGIN).assert_outcomes(passed=1)


def test_a_run_without_the_fixtures_starts_nothing_and_imports_little(
    inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(inner.path))
    inner.makepyfile(
        """
import sys

def test_one():
    loaded = {name for name in sys.modules if name.startswith(("qwf_agent.", "psycopg"))}
    assert loaded == {"qwf_agent.testing", "qwf_agent.testing.plugin"}
"""
    )
    inner.runpytest_subprocess(*PLUGIN).assert_outcomes(passed=1)
    assert list(inner.path.glob("qwf-tests-*")) == []


def test_a_run_without_the_fixtures_needs_no_folder_for_temporary_files(
    inner: pytest.Pytester,
) -> None:
    inner.makepyfile(
        nowhere="""
import tempfile
tempfile._candidate_tempdir_list, tempfile.tempdir = list, None
"""
    )
    inner.makepyfile(
        """
def test_without(): pass

def test_with(qwf_server): pass
"""
    )
    done = inner.runpytest_subprocess("-p", "nowhere", "-s", *PLUGIN)
    done.assert_outcomes(passed=1, errors=1)
    done.stdout.fnmatch_lines("*FileNotFoundError: * No usable temporary directory found*")


def test_the_plugin_can_be_imported_by_an_old_pytest() -> None:
    """An old one reads the entry point, too."""
    program = "import pytest; del pytest.Stash, pytest.StashKey; import qwf_agent.testing.plugin"
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT / "python")
