"""Where the database address and the settings come from."""

from __future__ import annotations

import logging
import os
import socket
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from qwf_agent import config
from qwf_agent.__main__ import Misconfigured
from qwf_agent.__main__ import command as agent_command
from qwf_agent.cli import qwf


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An environment without variables, with an empty home and an empty working directory."""
    for name in (*config.VARIABLES, "DATABASE_URL", *config.LOCATION_VARIABLES):
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


@pytest.mark.parametrize("content", [b"\xff\xfe", b"root:x:0:0", None])
def test_an_address_that_nobody_can_read_is_refused(
    content: bytes | None, nothing_set: Path
) -> None:
    file = nothing_set / "home" / "address"
    file.parent.mkdir()
    file.mkdir() if content is None else file.write_bytes(content)
    with pytest.raises(config.ConfigError, match=f"^{file} (cannot be read|is not a Postgres)"):
        config.find_dsn()


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
    (below / "mine.toml").write_text("dsn = 'host=box'\n")
    monkeypatch.setenv("QWF_CONFIG", "mine.toml")
    assert config.load_toml() == {"dsn": "host=box"}
    assert config.find_address() == ("host=box", "mine.toml")


@pytest.fixture
def above(nothing_set: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a qwf.toml; the working directory is below it."""
    (nothing_set / "shared").mkdir(mode=0o755)
    (nothing_set / "shared" / "qwf.toml").write_text('dsn = "host=elsewhere"\n')
    (nothing_set / "shared" / "work").mkdir()
    monkeypatch.chdir(nothing_set / "shared" / "work")
    return nothing_set / "shared"


def test_a_qwf_toml_above_that_others_can_write_is_refused(
    above: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = above / "qwf.toml"
    assert config.find_address() == ("host=elsewhere", str(file))
    for path in (file, above):
        mode = path.stat().st_mode
        path.chmod(mode | 0o002)
        with pytest.raises(config.ConfigError, match=rf"others may write {path}: .*QWF_CONFIG="):
            config.find_dsn()
        assert config.find_dsn("host=given") == "host=given"
        path.chmod(mode)
    monkeypatch.setenv("QWF_CONFIG", str(file))
    above.chmod(0o777)
    assert config.find_dsn() == "host=elsewhere"


def test_a_qwf_toml_that_is_nested_too_deeply_is_refused(
    nothing_set: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = nothing_set / "deep.toml"
    file.write_text(f"dsn = {'[' * 100_000}")
    monkeypatch.setenv("QWF_CONFIG", str(file))
    with pytest.raises(config.ConfigError, match="nested too deeply"):
        config.load_toml()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
@pytest.mark.parametrize("whose", ["qwf.toml", "."])
def test_a_qwf_toml_above_that_belongs_to_somebody_else_is_refused(above: Path, whose: str) -> None:
    os.chown(above / whose, 65534, -1)
    with pytest.raises(config.ConfigError, match=r"qwf\.toml is not used, because .* belongs to"):
        config.find_dsn()


def test_a_link_to_a_file_that_others_can_write_is_refused(above: Path, nothing_set: Path) -> None:
    open_to_all = nothing_set / "open.toml"
    (above / "qwf.toml").rename(open_to_all)
    (above / "qwf.toml").symlink_to(open_to_all)
    open_to_all.chmod(0o666)
    with pytest.raises(config.ConfigError, match=r"others may write .*open\.toml"):
        config.find_dsn()


def test_a_group_of_its_owner_alone_may_write(above: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (above / "qwf.toml").chmod(0o664)
    user = config.pwd.getpwuid(os.geteuid()).pw_name
    for name, members, refused in (
        (user, [], False), (user, ["other"], True), ("staff", [user], True)
    ):  # fmt: skip
        group = config.grp.struct_group((name, "x", os.getegid(), members))
        monkeypatch.setattr(config.grp, "getgrgid", lambda _gid, group=group: group)
        if refused:
            with pytest.raises(config.ConfigError, match="others may write"):
                config.find_dsn()
        else:
            assert config.find_dsn() == "host=elsewhere"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dns = 'host=box'", r"qwf\.toml: unknown key 'dns': did you mean 'dsn'\?"),
        ("[agents]\nslots = 3", r"unknown key 'agents': did you mean 'agent'\?"),
        (
            "slots = 3",
            r"unknown key 'slots': use one of dsn, agent, .*; the .*\[agent\]",
        ),
        ("agent = 3", "agent is not a table"),
        ("web = 3", "web is not a table"),
        (
            "[web.poeple]\nada = 'admin'",
            r"\[web\] has an unknown key 'poeple': did you mean 'people'",
        ),
        ("[web]\npeople = 'ada'", "people is not a table"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_one(
    nothing_set: Path, text: str, message: str
) -> None:
    (nothing_set / "qwf.toml").write_text(text)
    with pytest.raises(config.ConfigError, match=message):
        config.load_toml()


@pytest.mark.parametrize("name", ["gemma3:4b", "org/name", "qwen2.5:7b"])
def test_the_name_of_a_model_that_needs_quotes_is_named(nothing_set: Path, name: str) -> None:
    (nothing_set / "qwf.toml").write_text(f"[[server]]\nname = 'x'\n[server.models.{name}]\n")
    with pytest.raises(config.ConfigError) as caught:
        config.load_toml()
    told = f'put the name of the model in quotes: [server.models."{name}"]'
    assert str(caught.value).endswith(told)


def test_an_unknown_option_of_an_agent_is_refused_with_the_nearest_one(nothing_set: Path) -> None:
    (nothing_set / "qwf.toml").write_text("[agent]\nallow-comands = '/opt'\n")
    with pytest.raises(Misconfigured, match=r"did you mean 'allow-commands'\?") as caught:
        agent_command.make_context("agent", [])
    assert str(nothing_set / "qwf.toml") in str(caught.value)


OPTIONS = {
    flag.removeprefix("--"): option
    for option in agent_command.params
    for flag in option.opts
    if flag.startswith("--") and option.expose_value
}


ADDRESSES = {"dsn", "listen-dsn"}
REPEATABLE = sorted(key for key, option in OPTIONS.items() if option.multiple)
NOT_LISTS = [(key, value) for key in REPEATABLE for value in ("3", "[3]", "{disk = 'fast'}")]
NOT_LISTS += [(key, '"disk=fast"') for key in REPEATABLE if key not in ADDRESSES]


@pytest.mark.parametrize(("key", "value"), NOT_LISTS)
def test_what_can_be_repeated_has_to_be_a_list_of_texts(
    nothing_set: Path, key: str, value: str
) -> None:
    (nothing_set / "qwf.toml").write_text(f"[agent]\n{key} = {value}\n")
    with pytest.raises(Misconfigured, match=f"{key} has to be a list of texts, not "):
        agent_command.make_context("agent", [])


def test_an_address_of_an_agent_may_have_spaces(
    nothing_set: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ['dsn = "host=a dbname=b"', 'listen-dsn = "host=d dbname=e"']
    (nothing_set / "qwf.toml").write_text("\n".join(["[agent]", *lines]))
    params = agent_command.make_context("agent", []).params
    assert params["dsn"] == "host=a dbname=b"
    assert params["listen_dsn"] == "host=d dbname=e"
    monkeypatch.setenv("QWF_LISTEN_DSN", "host=f dbname=g")
    assert agent_command.make_context("agent", []).params["listen_dsn"] == "host=f dbname=g"


@pytest.mark.parametrize("key", ["grace", "lease", "poll", "wait"])
@pytest.mark.parametrize("value", ["nan", "inf", "1e300"])
def test_seconds_are_a_number_with_a_bound(nothing_set: Path, key: str, value: str) -> None:
    """With others an agent would claim nothing, and start all the same."""
    (nothing_set / "qwf.toml").write_text(f"[agent]\n{key} = {value}\n")
    for words in ([], [f"--{key}", value]):
        with pytest.raises(click.BadParameter, match=f"--{key}|seconds|range"):
            agent_command.make_context("agent", words)


@pytest.mark.parametrize("key", [key for key, option in OPTIONS.items() if not option.multiple])
@pytest.mark.parametrize("value", ["true", "1", "2.7", "['a']", "{a = 1}"])
def test_a_value_of_another_type_is_refused(nothing_set: Path, key: str, value: str) -> None:
    """true is not the number 1, 2.7 not the whole number 2, and 1 not the text of a name."""
    takes = {
        "true": ("durable-claims", "fresh", "otel", "reload", "until-empty", "verbose"),
        "1": ("slots", "gpu", "vram-mb", "max-rss", "rank", "grace", "recycle-jobs", "batch",
              "lease", "poll", "wait"),
        "2.7": ("grace", "lease", "poll", "wait"),
    }  # fmt: skip
    (nothing_set / "qwf.toml").write_text(f"[agent]\n{key} = {value}\n")
    if key in takes.get(value, ()):
        agent_command.make_context("agent", [])
        return
    with pytest.raises(Misconfigured, match=rf"qwf\.toml: \[agent\]: {key} has to be ") as caught:
        agent_command.make_context("agent", [])
    assert str(nothing_set / "qwf.toml") in str(caught.value)


def test_there_is_no_option_for_the_file(nothing_set: Path) -> None:
    (nothing_set / "qwf.toml").write_text("[agent]\nconfig = 'other.toml'\n")
    with pytest.raises(Misconfigured, match="unknown key 'config'"):
        agent_command.make_context("agent", [])
    with pytest.raises(Misconfigured, match=r"set QWF_CONFIG=other\.toml"):
        agent_command.make_context("agent", ["--config", "other.toml"])


def test_every_variable_of_the_agent_is_known() -> None:
    """QWF_HOST is not taken for QWF_HOME."""
    assert {str(option.envvar) for option in agent_command.params if option.envvar} <= set(
        config.VARIABLES
    )


def test_agents_and_commands_have_one_name_for_this_box(
    monkeypatch: pytest.MonkeyPatch, nothing_set: Path
) -> None:
    assert config.this_box() == socket.gethostname()
    (nothing_set / "qwf.toml").write_text("[agent]\nhost = 'box-b'\n")
    assert config.this_box() == "box-b"
    monkeypatch.setenv("QWF_HOST", "box-c")
    assert config.this_box() == "box-c"


def test_a_command_reports_misspelt_variables(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("QWF_HOEM", "/elsewhere")
    monkeypatch.setenv("QWF_HOST", "box")
    CliRunner().invoke(qwf, ["version"])
    assert caplog.messages == ["QWF_HOEM is not a variable of qwf: did you mean QWF_HOME?"]


def test_a_variable_that_looks_like_one_of_ours_is_reported(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("QWF_DNS", "host=other")
    monkeypatch.setenv("QWF_SERVICE_HOST", "10.0.0.1")  # Kubernetes sets such variables
    monkeypatch.setenv("QWF_DSN_RO", "host=replica")
    config.warn_of_misspelt()
    assert caplog.messages == ["QWF_DNS is not a variable of qwf: did you mean QWF_DSN?"]


def test_an_agent_reports_misspelt_variables_and_names_its_configuration(
    monkeypatch: pytest.MonkeyPatch, nothing_set: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (nothing_set / "qwf.toml").write_text("[agent]\nslots = 3\n")
    monkeypatch.setenv("QWF_SLOT", "4")
    with click.Context(agent_command):
        agent_command.main(["--verbose"], standalone_mode=False)
    said = capsys.readouterr().err
    assert "QWF_SLOT is not a variable of qwf: did you mean QWF_SLOTS?" in said
    assert f"configuration: {nothing_set / 'qwf.toml'}" in said
    logging.getLogger("qwf_agent").handlers.clear()


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


@pytest.mark.parametrize(
    ("word", "meant"), [("sett", "set"), ("tset", "test"), ("stet", "set"), ("x", None)]
)
def test_a_word_with_one_mistake_is_that_word(word: str, meant: str | None) -> None:
    """Two swapped letters are one mistake; the same letters in any order are not."""
    assert config.close_to(word, ["set", "drop", "test"]) == meant
