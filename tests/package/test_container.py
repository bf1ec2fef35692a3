"""The steps of examples/container/Dockerfile, without Docker: files, packages, and the agent."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg

from qwf_agent import config
from support.harness import until
from support.servers import ROOT

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

FOLDER = ROOT / "examples" / "container"
STOP_S = 60.0


def steps() -> list[tuple[str, str]]:
    """The instructions and their arguments."""
    text = (FOLDER / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in lines]


def test_the_packages_of_the_image_are_what_the_agent_needs() -> None:
    listed = (FOLDER / "requirements.txt").read_text(encoding="utf-8").split()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert listed == [f"{project['name']}[agent]"]
    assert "agent" in project["optional-dependencies"]
    assert ("RUN", "pip install --no-cache-dir -r requirements.txt") in steps()


def test_the_image_has_all_files_and_no_address() -> None:
    copied = [what.split()[0] for how, what in steps() if how == "COPY"]
    assert {file.name for file in FOLDER.iterdir()} - {"Dockerfile", "__pycache__"} == set(copied)
    (base,) = [what for how, what in steps() if how == "FROM"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = re.fullmatch(r"python:3\.(\d+)-slim", base)
    assert found
    assert f"Programming Language :: Python :: 3.{found[1]}" in project["classifiers"]
    for how, what in steps():
        if how == "ENV":
            names = [word.partition("=")[0] for word in what.split()]
            assert not {"QWF_DSN", "PGPASSWORD"} & set(names)
            assert {name for name in names if name.startswith("QWF_")} <= set(config.VARIABLES)
    order = [how for how, _ in steps()]
    assert order.index("USER") < order.index("ENTRYPOINT"), "it does not run as root"


def test_the_agent_of_the_image_does_a_job_and_ends_when_it_is_told_to(
    dsn: str, db: psycopg.Connection[Any], tmp_path: Path
) -> None:
    for how, what in steps():
        if how == "COPY":
            shutil.copy(FOLDER / what.split()[0], tmp_path)
    given = [
        word.partition("=")[::2] for how, what in steps() if how == "ENV" for word in what.split()
    ]
    out = {name: value.replace("/out", str(tmp_path / "out")) for name, value in given}
    (entry,) = [json.loads(what) for how, what in steps() if how == "ENTRYPOINT"]
    (more,) = [json.loads(what) for how, what in steps() if how == "CMD"]
    assert entry[0] == "python"
    environment = {**os.environ, **out, "PYTHONPATH": str(ROOT / "python"),
                   "QWF_DSN": dsn, "QWF_HOST": "box-a"}  # fmt: skip
    agent = subprocess.Popen([sys.executable, *entry[1:], *more], cwd=tmp_path, env=environment)
    try:
        db.execute('select qwf.enqueue(\'send_email\', \'{"to": "ada", "subject": "Hi"}\')')
        until(lambda: db.execute("select status from qwf.jobs").fetchone() == ("completed",))
        assert db.execute("select output from qwf.jobs").fetchone() == ({"sent_to": "ada"},)
        assert db.execute("select host from qwf.workers").fetchone() == ("box-a",)
        agent.send_signal(signal.SIGTERM)
        assert agent.wait(STOP_S) == 0
    finally:
        agent.kill()
        agent.wait()
