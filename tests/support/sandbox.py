"""The sandbox, built for tests: PGlite from npm, and the page with this commit's SQL in it.

Without node, npm or the registry these tests are skipped; with QWF_SANDBOX=required they fail.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from qwf_agent import migrate
from support.servers import ROOT

SANDBOX = ROOT / "sandbox"
MODULES = SANDBOX / "node_modules"
INSTALL = ("npm", "ci", "--no-audit", "--no-fund", "--loglevel=error")
PATIENCE_S = 180.0
# V8 compiles the WebAssembly of PGlite once. What it compiles again, to run faster, a test does not
# run for long enough.
QUICK = "--liftoff-only"


def need_npm_packages() -> None:
    """Install the packages of sandbox/. If that cannot be, skip the test, or fail if it must be."""
    missing = [name for name in ("node", "npm") if shutil.which(name) is None]
    reason = f"{', '.join(missing)} not installed" if missing else _install()
    if reason:
        if os.environ.get("QWF_SANDBOX") == "required":
            pytest.fail(f"no npm packages: {reason}")
        pytest.skip(f"no npm packages: {reason}")


def _install() -> str | None:
    """Once for all processes of a test run. Returns why it is not possible."""
    lock, made = SANDBOX / "package-lock.json", MODULES / ".package-lock.json"
    with lock.open(encoding="utf-8") as alone:
        fcntl.flock(alone, fcntl.LOCK_EX)
        if made.is_file() and made.stat().st_mtime >= lock.stat().st_mtime:
            return None
        try:
            done = subprocess.run(
                INSTALL, cwd=SANDBOX, capture_output=True, text=True, timeout=PATIENCE_S
            )
        except subprocess.TimeoutExpired:
            return f"npm ci took more than {PATIENCE_S:.0f} s"
    return done.stderr.strip()[-500:] if done.returncode else None


def build(folder: Path) -> Path:
    """The built page, made by one process of a test run and used by all."""
    need_npm_packages()
    folder.mkdir(parents=True, exist_ok=True)
    built = folder / "sandbox"
    with (folder / "lock").open("w") as alone:
        fcntl.flock(alone, fcntl.LOCK_EX)
        if not (built / "qwf.data").is_file():
            sql = "".join(change.deploy.read() for change in migrate.read_plan().sources.changes)
            node(SANDBOX / "build.mjs", built, text=sql)
    return built


def node(program: Path, *words: str | Path, text: str = "") -> str:
    """Output of a program for Node; the test fails if the program does."""
    command = ("node", QUICK, str(program), *map(str, words))
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
