"""Checks without running anything: the layout of the SQL, and files that are not code."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import psycopg
import pytest
import yaml
from click.testing import CliRunner

from qwf_agent import __version__, embedded, migrate
from qwf_agent.cli import qwf
from qwf_agent.migrate import objects
from support.servers import DEBIAN, ROOT, deployed, own_server
from support.tools import tool

check = tool("check")
contents = tool("contents")

SQL = ROOT / "sql"
KINDS = ("schema", "functions", "triggers", "views")
CHANGES = {
    str(p.relative_to(SQL).with_suffix("")): p
    for kind in KINDS
    for p in sorted((SQL / kind).rglob("*.sql"))
}
PLANNED = {change.name: change for change in migrate.read_plan().sources.changes}
FUNCTIONS: dict[str, str] = {}  # qwf.claim: functions/claim/claim
TEXTS: dict[str, str] = {}  # the statements of each object of a source, without their comments
for _change, _file in CHANGES.items():
    for _name, _text in objects.objects(_file.read_text(encoding="utf-8")).items():
        TEXTS[_name] = TEXTS.get(_name, "") + re.sub(r"(?m)^\s*--[^\n]*$", "", _text)
        if _change.startswith("functions/") and _name.startswith("function "):
            FUNCTIONS[_name.removeprefix("function ")] = _change
ROOMS = list(dict.fromkeys(n.split("/")[1] for n in PLANNED if n.startswith("functions/")))
ROOMS_OF_VIEWS = ("jobs", "runs", "events", "fleet", "queues", "schedules", "health")
PRIVATE = [name for name in FUNCTIONS if name.startswith("_qwf.")]
PUBLIC = [name for name in FUNCTIONS if name.startswith("qwf.")]
SCRIPTS = sorted(p for p in SQL.rglob("*.sql"))
WRITTEN = [p for p in SCRIPTS if not {"verify", "revert"} & set(p.parts)]
KEYWORDS = (
    "SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|JOIN|CREATE|TABLE|FUNCTION|RETURNS|LANGUAGE|BEGIN|END"
    "|COMMIT|ROLLBACK|DECLARE|IF|THEN|ELSE|LOOP|RETURN|RAISE|WITH|AND|OR|NOT|NULL|IS|IN|ORDER BY"
)
COLUMNS = 100
LONGEST = 480  # lines of a source
CROWDED = 10  # files of a room
COMMENTED = 8  # lines above a function

RECORDS = SQL.parent / "python/qwf_agent/migrate/record.py"  # the event of a migration


def relative(path: Path) -> str:
    return str(path.relative_to(SQL))


def code_of(text: str) -> str:
    """SQL without comments and quoted strings; line breaks stay where they are."""
    return re.sub(r"--[^\n]*|'(?:[^']|'')*'", lambda m: "\n" * m[0].count("\n"), text)


# The plan and its scripts ------------------------------------------------------------------------


def test_the_plan_names_exactly_the_scripts_that_exist() -> None:
    assert set(PLANNED) == set(CHANGES)


def faults_of_change(change: migrate.Change) -> Iterator[str]:
    for script, verb, end in (
        (change.deploy, "Deploy", "commit"),
        (change.revert, "Revert", "commit"),
        (change.verify, "Verify", "rollback"),
    ):
        text = script.read()
        if not text.startswith(f"-- {verb} qwf:{change.name}\n"):
            yield f"{verb}: it does not begin with its name"
        # One transaction each: migrate marks a change in the transaction that its script opens.
        if re.findall(r"^(begin|commit|rollback);$", text, re.MULTILINE) != ["begin", end]:
            yield f"{verb}: it is not one transaction that ends in {end}"
        if verb != "Deploy" and (script.derived is None) != script.path.is_file():
            yield f"{verb}: it is written although it is derived, or neither"


def test_a_change_has_scripts_of_one_transaction_each() -> None:
    faults = {name: [*faults_of_change(PLANNED[name])] for name in CHANGES}
    assert {name: found for name, found in faults.items() if found} == {}


def faults_of_source(name: str) -> Iterator[str]:
    text = CHANGES[name].read_text(encoding="utf-8")
    head = text.partition("\n\n")[0]
    if not all(line.startswith("-- ") for line in head.splitlines()):
        yield "it does not begin with a paragraph that says what its subject is"
    if PLANNED[name].note != contents.sentence(text):
        yield f"the plan says {PLANNED[name].note!r}, the file {contents.sentence(text)!r}"
    if re.search(r"^create or replace|^(begin|commit);", text, re.MULTILINE):
        yield "it says create or replace, or has a transaction: the plan begins one"
    if re.search(r"^-- (Purpose|Guarantees|Called by): ", text, re.MULTILINE):
        yield "a comment has a label: its first sentence is the purpose"
    for one in objects.statements(text.partition("\n\n")[2]):
        above = one.text.removesuffix(objects.bare(one.text)).strip("\n").splitlines()
        if one.kind == "function" and len(above) > COMMENTED:
            yield f"{one.name} has {len(above)} lines of comment above it, more than {COMMENTED}"
    if len(text.splitlines()) > LONGEST:
        yield f"it has more than {LONGEST} lines: make two subjects of it"


def test_a_source_is_one_subject() -> None:
    faults = {name: [*faults_of_source(name)] for name in CHANGES}
    assert {name: found for name, found in faults.items() if found} == {}


def test_the_table_of_contents_is_new() -> None:
    assert contents.TARGET.read_text(encoding="utf-8") == contents.document(), "make docs"


NOT_PLAIN = re.compile(r"^\\|\t|\s$")
SHOUTED = re.compile(rf"\b({KEYWORDS})\b")


def faults_of_style(script: Path) -> Iterator[str]:
    text = script.read_text(encoding="utf-8")
    if not text.endswith("\n") or text.endswith("\n\n"):
        yield "it does not end in one line break"
    lines = text.splitlines()
    for n, line in enumerate(lines, 1):
        if NOT_PLAIN.search(line):
            yield f"{n}: {line!r}"
        if len(line) > COLUMNS and script in WRITTEN:
            yield f"{n}: {len(line)} columns"
    for n, line in enumerate(code_of(text).splitlines(), 1):
        if SHOUTED.search(line):
            yield f"{n}: {line}"


def test_a_script_is_plain_sql_in_the_house_style() -> None:
    faults = {relative(script): [*faults_of_style(script)] for script in SCRIPTS}
    assert {name: found for name, found in faults.items() if found} == {}


def test_no_literal_depends_on_standard_conforming_strings() -> None:
    faults = {
        relative(script): value
        for script in WRITTEN
        if "tests" not in script.parts
        for prefix, value in re.findall(
            r"--[^\n]*|(\w?)'((?:[^'\\]|''|\\.)*)'", script.read_text(encoding="utf-8")
        )
        if "\\" in value and prefix.lower() != "e"
    }
    assert faults == {}


def test_a_sql_test_lies_in_the_folder_of_its_subject() -> None:
    known = {name.removeprefix("functions/") for name in CHANGES} | {"_meta", "_support"}
    tests = [p.relative_to(SQL / "tests") for p in (SQL / "tests").rglob("*.sql")]
    assert [str(p) for p in tests if str(p.parent) not in known] == []


def test_a_sql_test_leaves_its_transaction_to_the_runner() -> None:
    frame = re.compile(r"^(begin|commit|rollback);|^select plan\(|\bfinish\(\)", re.MULTILINE)
    texts = {p: p.read_text(encoding="utf-8") for p in (SQL / "tests").rglob("*.sql")}
    assert [relative(p) for p, text in texts.items() if frame.search(text)] == []


def test_every_public_function_has_tests() -> None:
    assert [name for name in PUBLIC if not check._of_function(name)] == [], (
        "write sql/tests/<room>/<subject>/<behaviour>.sql"
    )


def test_every_sqlstate_is_documented() -> None:
    raised = {
        code for p in WRITTEN for code in re.findall(r"\bQW\d{3}\b", p.read_text(encoding="utf-8"))
    }
    documented = set(
        re.findall(r"\bQW\d{3}\b", (ROOT / "docs" / "errors.md").read_text(encoding="utf-8"))
    )
    assert raised <= documented


# Everything is used -------------------------------------------------------------------------------


@cache
def calls() -> dict[str, set[str]]:
    """The objects that call each function."""
    found: dict[str, set[str]] = {}
    for name, text in TEXTS.items():
        for called in re.findall(r"\b(_?qwf\.\w+)\(", text):
            found.setdefault(called, set()).add(name)
    return found


def uses(pattern: str) -> list[str]:
    return [name for name, text in TEXTS.items() if re.search(pattern, text)]


def callers(name: str) -> set[str]:
    return calls().get(name, set()) - {f"function {name}"}


def test_a_private_function_is_called() -> None:
    assert [name for name in PRIVATE if not callers(name)] == [], "nothing calls it: delete it"


def room(name: str) -> str:
    return name.split("/")[1]


def test_the_plan_has_a_heading_for_every_room() -> None:
    """The functions of a room are together, under its heading."""
    lines = migrate.read_plan().sources.path.read_text(encoding="utf-8").splitlines()
    headed: dict[str, set[str]] = {}
    heading = ""
    for line in lines:
        if found := re.match(r"# (\w+): \S", line):
            heading = found[1]
        elif line.startswith("functions/"):
            headed.setdefault(room(line.split()[0]), set()).add(heading)
    assert headed == {folder: {folder} for folder in ROOMS}


# A run is a job of the run above it: its end ends an attempt, and what queues a job may start it.
# A retry goes on when the events of what it takes back first are applied.
UPWARD = {
    "_qwf.apply_events": {"children", "retry"},
}


def test_a_function_uses_only_its_own_room_and_rooms_before_it() -> None:
    rooms = {other: room(change) for other, change in FUNCTIONS.items()}
    wrong = {}
    for name in FUNCTIONS:
        code = code_of(TEXTS[f"function {name}"])  # a hint may name any function
        used = {rooms[f] for f in re.findall(r"\b(_?qwf\.\w+)\(", code) if f in rooms}
        allowed = {*ROOMS[: ROOMS.index(rooms[name]) + 1], *UPWARD.get(name, set())}
        if later := used - allowed:
            wrong[name] = later
    assert wrong == {}


def test_a_view_is_in_a_room_of_views() -> None:
    views = [name.split("/") for name in CHANGES if name.startswith("views/")]
    assert [parts for parts in views if len(parts) != 3] == []
    assert {parts[1] for parts in views} <= set(ROOMS_OF_VIEWS)


def test_no_room_is_crowded() -> None:
    """One with more files has rooms of its own."""
    folders = Counter(name.rpartition("/")[0] for name in {*FUNCTIONS.values()})
    assert {folder: size for folder, size in folders.items() if size > CROWDED} == {}


def test_a_setting_is_read() -> None:
    table = "table qwf.settings"
    settings = re.findall(r"^comment on column qwf\.settings\.(\w+)", TEXTS[table], re.MULTILINE)
    whole = {table, "function qwf.change_settings", "view qwf.setting_overview"}
    unread = [s for s in settings if not {*uses(rf"\b{s}\b")} - whole]
    assert unread == ["singleton"]


def test_every_allowed_kind_of_event_is_written() -> None:
    """Every kind that the check of the table allows has a writer."""
    table = TEXTS["table _qwf.event_log"]
    allowed = re.search(r"kind text not null check \(kind in \((.*?)\)\)", table, re.DOTALL)
    assert allowed is not None
    writes = (
        r"insert into _qwf\.event_log|_qwf\.record_change|_qwf\.tg_settings__record"
        r"|_qwf\.tell_(schedule|states)"
    )
    writers = "".join(TEXTS[name] for name in uses(writes)) + RECORDS.read_text("utf-8")
    for name in re.findall(r"'(\w+)'", allowed[1]):
        assert f"'{name}'" in writers or ("'worker_' ||" in writers and name[:7] == "worker_"), name


def test_every_kind_of_event_is_documented() -> None:
    allowed = re.search(r"kind in \((.*?)\)\)", TEXTS["table _qwf.event_log"], re.DOTALL)
    assert allowed is not None
    table = (ROOT / "docs" / "events.md").read_text(encoding="utf-8").partition("## Kinds")[2]
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    documented = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(documented) == sorted(re.findall(r"'(\w+)'", allowed[1]))


def test_schema_and_package_have_one_version() -> None:
    assert f"'{__version__}'" in TEXTS["function qwf.version"]


# plpgsql_check -----------------------------------------------------------------------------------


def checkers() -> list[str]:
    """Versions of the installed servers that have plpgsql_check."""
    share = Path("/usr/share/postgresql")
    return sorted(p.parts[-3] for p in share.glob("*/extension/plpgsql_check.control"))


@pytest.fixture
def checked() -> Iterator[psycopg.Connection[Any]]:
    found = checkers()
    if not found:
        pytest.skip("plpgsql_check is not installed")
    with (
        own_server(DEBIAN / found[-1] / "bin") as server,
        deployed(server) as executor,
        server.database(executor.dbname, executor.template_dbname) as janitor,
        psycopg.connect(server.dsn(janitor.dbname), autocommit=True) as conn,
    ):
        conn.execute("create extension plpgsql_check")
        yield conn


PROBLEMS = """
select p.oid::regprocedure::text, c.lineno, c.level, c.message, c.hint
from pg_proc p
join pg_language l on l.oid = p.prolang
left join pg_trigger t on t.tgfoid = p.oid
cross join lateral plpgsql_check_function_tb(
  p.oid, coalesce(t.tgrelid, 0), other_warnings => true, extra_warnings => true,
  performance_warnings => false, newtable => t.tgnewtable, oldtable => t.tgoldtable) c
where p.pronamespace in ('qwf'::regnamespace, '_qwf'::regnamespace)
  and l.lanname = 'plpgsql'
  and p.oid <> '_qwf.allow'::regproc
  -- A literal ('{}') for jsonb or an array is converted once, at compile time.
  and c.message <> 'target type is different type than source type'
"""


def test_plpgsql_check_finds_nothing(checked: psycopg.Connection[Any]) -> None:
    assert checked.execute(PROBLEMS).fetchall() == []
    checked.execute(
        "create function qwf.broken() returns int language plpgsql"
        " as $$ begin return (select nothing from qwf.jobs); end $$"
    )
    assert [row[0] for row in checked.execute(PROBLEMS).fetchall()] == ["qwf.broken()"]


# Files that are not code -------------------------------------------------------------------------


RUNNING = ("cpu", "gpu", "metrics", "web")


def test_the_containers_that_run_bodies_are_no_superuser_and_no_password_is_known() -> None:
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    services = yaml.safe_load(text)["services"]
    for name, login in (
        ("cpu", "agent"), ("gpu", "agent"), ("metrics", "metrics"), ("web", "web"),
    ):  # fmt: skip
        environment = services[name]["environment"]
        assert environment["QWF_DSN"].startswith(f"postgresql://{login}:${{QWF_{login.upper()}_")
        assert "QWF_PASSWORD" not in str(environment)
    passwords = re.findall(r"\$\{(\w+)(.*?)\}", text)
    assert {name for name, how in passwords if how.startswith(":?")} == {n for n, _ in passwords}
    assert not [how for _, how in passwords if how.startswith((":-", "-"))]
    header = text.partition("\nx-agent:")[0]
    assert all(name in header for name, _ in passwords)
    for ignored in (".gitignore", ".dockerignore"):
        assert ".env" in (ROOT / ignored).read_text(encoding="utf-8").splitlines()


def test_the_logins_of_the_compose_file_may_do_their_work_and_no_more(
    dsn: str, db: psycopg.Connection[Any], tmp_path: Path
) -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    script = compose["configs"]["logins"]["content"]
    assert "$" not in script  # compose would replace it
    file = tmp_path / "logins.sql"
    file.write_text(script.replace("database qwf", f"database {db.info.dbname}"))
    tool, *arguments = compose["services"]["logins"]["entrypoint"]
    command = [str(embedded.binaries() / tool), *arguments[:-1], str(file), dsn]
    passwords = {
        "QWF_AGENT_PASSWORD": "it's",
        "QWF_METRICS_PASSWORD": "secret",
        "QWF_WEB_PASSWORD": "w'",
    }
    try:
        for _ in range(2):
            subprocess.run(command, env={**os.environ, **passwords}, check=True)
        rights = db.execute(
            "select rolname::text, rolcanlogin and not rolsuper,"
            " pg_has_role(oid, 'qwf_worker', 'member'),"
            " pg_has_role(oid, 'qwf_viewer', 'member'), pg_has_role(oid, 'qwf_producer', 'member')"
            " from pg_roles where rolname in ('agent', 'metrics', 'web') order by 1"
        ).fetchall()
        assert rights == [
            ("agent", True, True, False, False),
            ("metrics", True, False, True, False),
            ("web", True, False, True, False),
        ]
        with psycopg.connect(dsn, user="agent") as agent:
            agent.execute("select qwf.register_worker('box', 'cpu')")
    finally:
        db.execute("drop role if exists agent, metrics, web")


def test_the_compose_file_is_complete() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    assert set(services) == {*RUNNING, "postgres", "migrate", "logins", "qwf"}
    for name, after in (("logins", "migrate"), *((name, "logins") for name in RUNNING)):
        finished = services[name]["depends_on"][after]["condition"]
        assert finished == "service_completed_successfully"
    for name in RUNNING:
        one = services[name]
        assert one["init"] is True
        assert one["healthcheck"]["test"][0] == "CMD"
        assert one["restart"] == "on-failure"
    for name in ("cpu", "gpu"):
        assert services[name]["command"][:2] == ["agent", "--queue"]
        assert int(services[name]["stop_grace_period"].removesuffix("s")) > 60  # the agent's grace
        check = services[name]["healthcheck"]["test"][1:]
        assert check == ["qwf", "workers", "--check"]
        assert services[name]["hostname"] == name  # orders for the box outlive the container
    assert services["migrate"]["depends_on"]["postgres"]["condition"] == "service_healthy"
    assert "healthcheck" in services["postgres"]
    known = set(qwf.list_commands(click.Context(qwf)))
    assert services["metrics"]["command"][0] in known
    assert services["web"]["ports"] == ["127.0.0.1:5688:5688"]
    assert "--sign-in" in services["web"]["command"]
    page = qwf.get_command(click.Context(qwf), services["web"]["command"][0])
    assert page is not None
    page.make_context("web", services["web"]["command"][1:])  # its options are known


def test_the_systemd_unit_is_valid(tmp_path: Path) -> None:
    unit = tmp_path / "qwf-agent@.service"
    unit.write_text(CliRunner().invoke(qwf, ["unit", "--user", "root"]).stdout)
    text = unit.read_text()
    assert f"ExecStart={sys.executable} -m qwf_agent\n" in text
    for line in ("Type=notify", "WatchdogSec=60", "RestartPreventExitStatus=78", "KillMode=mixed"):
        assert f"\n{line}\n" in text
    for line in ("CapabilityBoundingSet=", "PrivateTmp=yes", "RestrictSUIDSGID=yes", "UMask=0077"):
        assert f"\n{line}\n" in text
    for line in ("PrivateDevices", "ProtectClock", "DeviceAllow", "ProtectControlGroups"):
        assert f"\n{line}=" not in text  # bodies need cards and groups
    verify = shutil.which("systemd-analyze")
    if verify is None:
        pytest.skip("systemd-analyze is not installed: the unit was only read")
    done = subprocess.run(
        [verify, "verify", str(unit).replace("@", "@test")], capture_output=True, text=True
    )
    assert "qwf-agent" not in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("what", "says"), [("web", "--sign-in"), ("metrics", "--listen"), ("tick", "--loop")]
)
def test_the_systemd_unit_of_a_service_is_valid(tmp_path: Path, what: str, says: str) -> None:
    unit = tmp_path / f"qwf-{what}.service"
    unit.write_text(CliRunner().invoke(qwf, ["unit", what, "--user", "root"]).stdout)
    text = unit.read_text()
    assert "\nUser=root\n" in text
    command = re.search(r"^ExecStart=(.*)$", text, re.MULTILINE)
    assert command is not None
    words = shlex.split(command[1])
    assert words[0] == sys.executable
    options = words.index(what) + 1
    started = [*words[1:options], "--help"]
    done = subprocess.run([sys.executable, *started], capture_output=True, text=True, check=True)
    assert says in done.stdout
    for line in ("CapabilityBoundingSet=", "PrivateDevices=yes", "ProtectSystem=strict",
                 "NoNewPrivileges=yes", "UMask=0077", "RestartPreventExitStatus=78"):  # fmt: skip
        assert f"\n{line}\n" in text
    verify = shutil.which("systemd-analyze")
    if verify is None:
        pytest.skip("systemd-analyze is not installed: the unit was only read")
    done = subprocess.run([verify, "verify", str(unit)], capture_output=True, text=True)
    assert "qwf-{what}" not in done.stderr, done.stderr


def test_the_makefile_explains_itself() -> None:
    printed = subprocess.run(
        ["make", "-C", str(ROOT)], capture_output=True, text=True, check=True
    ).stdout
    for target in ("demo", "test", "lint", "up", "down", "deploy", "revert", "verify"):
        assert re.search(rf"^\s*{target}\s", printed, re.MULTILINE), target


def test_decisions_are_numbered_from_one() -> None:
    files = sorted((ROOT / "docs" / "adr").glob("*.md"))
    titles = [file.read_text(encoding="utf-8").partition(".")[0] for file in files]
    assert titles == [f"# {number}" for number in range(1, len(files) + 1)]
    assert [int(file.name[:4]) for file in files] == list(range(1, len(files) + 1))
