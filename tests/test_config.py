"""Where the database address and the settings come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from qwf_agent import config


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An environment without variables, with an empty home and an empty working directory."""
    for name in ("QWF_DSN", "DATABASE_URL", "QWF_CONFIG", *config.LOCATION_VARIABLES):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("QWF_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_any_address_the_error_says_what_to_do() -> None:
    with pytest.raises(config.ConfigError, match=r"QWF_DSN.*qwf up"):
        config.find_dsn(None)


def test_the_first_place_that_has_an_address_wins(
    monkeypatch: pytest.MonkeyPatch, nothing_set: Path
) -> None:
    (nothing_set / "home").mkdir()
    (nothing_set / "home" / "address").write_text("dbname=from_up\n")
    assert config.find_dsn(None) == "dbname=from_up"
    (nothing_set / "qwf.toml").write_text('dsn = "dbname=from_toml"\n')
    assert config.find_dsn(None) == "dbname=from_toml"
    monkeypatch.setenv("PGHOST", "box")
    monkeypatch.setenv("PGDATABASE", "from env")
    assert config.find_dsn(None) == "host=box dbname='from env'"
    monkeypatch.setenv("DATABASE_URL", "postgres://box/from_database_url")
    assert config.find_dsn(None) == "postgres://box/from_database_url"
    monkeypatch.setenv("QWF_DSN", "dbname=from_qwf_dsn")
    assert config.find_dsn(None) == "dbname=from_qwf_dsn"
    assert config.find_dsn("dbname=from_flag") == "dbname=from_flag"


def test_a_user_alone_is_not_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGUSER", "me")
    monkeypatch.setenv("PGPASSWORD", "secret")
    with pytest.raises(config.ConfigError):
        config.find_dsn(None)


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QWF_DSN", "")
    monkeypatch.setenv("DATABASE_URL", "dbname=there")
    assert config.find_dsn(None) == "dbname=there"


def test_the_driver_of_sqlalchemy_is_removed() -> None:
    assert config.find_dsn("postgresql+psycopg://u@h/d") == "postgresql://u@h/d"


@pytest.mark.parametrize("dsn", ["", " ", "mysql://u:secret@h/d", "what is this", "hots=box"])
def test_a_bad_address_is_refused_and_not_repeated(dsn: str) -> None:
    with pytest.raises(config.ConfigError, match=r"^--dsn is") as caught:
        config.find_dsn(dsn)
    assert "secret" not in str(caught.value)


def test_qwf_toml_is_found_above_and_by_name(
    monkeypatch: pytest.MonkeyPatch, nothing_set: Path
) -> None:
    assert config.load_toml() == {}
    (nothing_set / "qwf.toml").write_text("[agent]\nqueue = ['gpu']\n")
    below = nothing_set / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert config.load_toml() == {"agent": {"queue": ["gpu"]}}
    (below / "mine.toml").write_text("host = 'box'\n")
    monkeypatch.setenv("QWF_CONFIG", "mine.toml")
    assert config.load_toml() == {"host": "box"}


@pytest.mark.parametrize("content", [b"no = toml = at all", b"\xff\xfe", None])
def test_a_qwf_toml_that_cannot_be_read_is_named(
    monkeypatch: pytest.MonkeyPatch, nothing_set: Path, content: bytes | None
) -> None:
    file = nothing_set / "odd.toml"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setenv("QWF_CONFIG", str(file))
    with pytest.raises(config.ConfigError, match=r"odd\.toml: "):
        config.load_toml()


def test_home_is_in_the_users_unless_it_is_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert config.home() == tmp_path / "home"
    monkeypatch.delenv("QWF_HOME")
    monkeypatch.setenv("HOME", "/somewhere")
    assert config.home() == Path("/somewhere/.qwf")
