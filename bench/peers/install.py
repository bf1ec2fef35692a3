"""Installs the peers next to this file, in separate environments that git ignores."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = HERE / ".venv"
PYTHON = VENV / "bin" / "python"
WORKFLOWS = HERE / ".venv-workflows"
WORKFLOWS_PYTHON = WORKFLOWS / "bin" / "python"
MODULES = HERE / "node_modules"
INSTALL_S = 600


class CannotInstall(Exception):
    """A peer cannot be installed on this machine. The message says why."""


def python() -> None:
    """Install pgqueuer and procrastinate from PyPI."""
    environment(VENV, "requirements.txt")


def workflows() -> None:
    """Install DBOS and Celery from PyPI."""
    environment(WORKFLOWS, "requirements-workflows.txt")


def environment(folder: Path, requirements: str) -> None:
    """Install the packages of a requirements file into a virtual environment. Raises
    CannotInstall."""
    wanted = HERE / requirements
    stamp = folder / ".installed"
    if stamp.exists() and stamp.stat().st_mtime >= wanted.stat().st_mtime:
        return
    venv.create(folder, clear=True, with_pip=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    _run([*pip, "install", "-r", str(wanted)])
    stamp.touch()


def node() -> None:
    """Install graphile-worker from npm."""
    wanted = HERE / "package.json"
    stamp = MODULES / ".installed"
    if stamp.exists() and stamp.stat().st_mtime >= wanted.stat().st_mtime:
        return
    if shutil.which("node") is None or shutil.which("npm") is None:
        raise CannotInstall("Node is not installed on this machine")
    _run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--no-package-lock"])
    stamp.touch()


def _run(command: list[str]) -> None:
    print(f"installing peers: {' '.join(command[-3:])}", file=sys.stderr)
    try:
        done = subprocess.run(
            command, cwd=HERE, capture_output=True, text=True, timeout=INSTALL_S,
            env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotInstall(str(error)) from error
    if done.returncode:
        raise CannotInstall((done.stderr or done.stdout).strip()[-500:])


INSTALLERS: dict[str, Callable[[], None]] = {"python": python, "node": node}
