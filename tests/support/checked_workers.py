"""The programs that `qwf worker-check` is tried on: the agent, and the examples of docs/clients.md
with the tasks of the checks."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from support.servers import ROOT

CLIENTS = ROOT / "examples" / "clients"
BODIES = Path(__file__).with_name("check_bodies")
GO_LIBRARIES = Path("/usr/share/gocode")  # of Debian's packages
PGX = "src/github.com/jackc/pgx/v4"


def node_modules() -> Path:
    """A folder with the package that the Node programs need, installed once per checkout."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = ROOT / "build" / "node"
    folder.parent.mkdir(exist_ok=True)
    with (folder.parent / "node.lock").open("w") as alone:
        fcntl.flock(alone, fcntl.LOCK_EX)  # several processes run tests
        if not (folder / "node_modules" / "pg").is_dir():
            draft = Path(tempfile.mkdtemp(dir=folder.parent))
            shutil.copy(CLIENTS / "node" / "package.json", draft)
            install = ["npm", "install", "--silent", "--no-audit", "--no-fund"]
            subprocess.run(install, cwd=draft, check=True)
            shutil.rmtree(folder, ignore_errors=True)
            draft.rename(folder)
    return folder / "node_modules"


def need_ruby() -> None:
    """Skip the test unless Ruby and its driver are installed."""
    probe = ["ruby", "-e", 'require "pg"']
    if not shutil.which("ruby") or subprocess.run(probe, capture_output=True).returncode:
        pytest.skip("ruby with the gem pg is not installed")


def with_body(target: Path, source: Path, head: str, body: str) -> None:
    """Copy a program with one more body, or several."""
    text = source.read_text(encoding="utf-8")
    assert text.count(head) == 1
    target.write_text(text.replace(head, head + body), encoding="utf-8")


def build_go(folder: Path, bodies: Path) -> Path:
    """Build the Go worker with these bodies in place of its own; returns the program."""
    if shutil.which("go") is None or not (GO_LIBRARIES / PGX).is_dir():
        pytest.skip("go is not installed, or not golang-github-jackc-pgx-v4-dev")
    source = folder / "go"
    shutil.copytree(CLIENTS / "go", source)
    shutil.copy(bodies, source / "bodies.go")
    environ = {**os.environ, "GO111MODULE": "off", "GOPATH": f"{folder}:{GO_LIBRARIES}"}
    program = folder / "go-worker"
    files = sorted(map(str, source.glob("*.go")))
    subprocess.run(["go", "build", "-o", str(program), *files], env=environ, check=True)
    return program


def checked(kind: str, folder: Path) -> list[str]:
    """The command that starts this worker with the tasks of the checks; skips where its language is
    not installed."""
    if kind == "agent":
        tasks = ["--queue", "{queue}", "--app", "check_tasks:app"]
        path = os.pathsep.join([str(BODIES), str(ROOT / "python")])
        return ["env", f"PYTHONPATH={path}", sys.executable, "-m", "qwf_agent", *tasks]
    if kind == "bash":
        return [str(CLIENTS / "psql" / "worker.sh"), "{queue}", str(BODIES / "psql")]
    if kind == "go":
        return [str(build_go(folder, BODIES / "bodies.go.txt")), "{queue}"]
    if kind == "node":
        (folder / "node_modules").symlink_to(node_modules(), target_is_directory=True)
        source, head, bodies = "node/worker.mjs", "const bodies = {\n", "bodies.mjs"
    else:
        need_ruby()
        source, head, bodies = "ruby/worker.rb", "BODIES = {\n", "bodies.rb"
    target = folder / Path(source).name
    with_body(target, CLIENTS / source, head, (BODIES / bodies).read_text(encoding="utf-8"))
    return [kind, str(target), "{queue}"]
