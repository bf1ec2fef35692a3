"""An agent that the tests fork begins as one that is a new Python."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from support.harness import (
    PACKAGE,
    Database,
    StartAgent,
    clean_environment,
    lines,
    nursery,
    until,
)
from support.thorough import THOROUGH
from support.warm import Forked

# The app writes down what a body could depend on, and serves nothing.
LOOKS = """
import json, locale, os, resource, signal, socket, sys, threading, time
from qwf_agent import App
app = App()
main = sys.modules["__main__"]
signals = [number for number in signal.valid_signals() if number < 32]

def link(number):
    try:
        read = os.readlink(f"/proc/self/fd/{number}")
    except FileNotFoundError:  # of the listing itself
        return None
    return read.partition("[")[0]

found = {
    "arguments": sys.argv,
    "main": [main.__name__, main.__spec__.name, main.__file__],
    "path": sys.path,
    "flags": [*sys.flags],
    "environment": dict(os.environ),
    "folder": os.getcwd(),
    "time zone": time.tzname,
    "files": [link(n) for n in range(3)],
    "others open": [read for n in os.listdir("/proc/self/fd") if int(n) > 2 and (read := link(n))],
    "mask": [*map(int, signal.pthread_sigmask(signal.SIG_BLOCK, ()))],
    "child signal": str(signal.getsignal(signal.SIGCHLD)),
    "woken by": signal.set_wakeup_fd(-1),
    "interrupt": str(signal.getsignal(signal.SIGINT)),
    "limits": [resource.getrlimit(n) for n in range(10)],
    "umask": os.umask(0o22),
    "threads": threading.active_count(),
    "modules": sorted(name for name in sys.modules if name.startswith("qwf_agent")),
}
with open("found", "a") as file:
    print(json.dumps(found), file=file)

@app.task()
def nothing():
    pass
"""


def test_it_begins_as_a_new_one_does(
    base: Database, start: StartAgent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("support.harness.THOROUGH", False)
    (tmp_path / "looks.py").write_text(LOOKS)
    path = f"{PACKAGE}{os.pathsep}{tmp_path}"
    found: list[Any] = []
    for fresh in (True, False):
        agent = start("--app", "looks", fresh=fresh, PYTHONPATH=path, TZ="Asia/Kolkata")
        assert isinstance(agent.process, Forked) == (not fresh)
        assert agent.stop() == 0
        wrote = [line.replace(agent.log.name, "log") for line in lines(tmp_path / "found")]
        found.append([json.loads(line) for line in wrote])
        (tmp_path / "found").unlink()
    new, forked = found
    assert len(new) == len(forked) > 0
    for one, other in zip(new, forked, strict=True):
        assert [key for key in one if one[key] != other[key]] == [], (one, other)


def test_its_exit_code_is_that_of_the_process(start: StartAgent) -> None:
    agent = start("--no-such-option", ready=False)
    assert isinstance(agent.process, Forked) != THOROUGH
    code = agent.ended()
    assert code > 0
    assert "--no-such-option" in agent.said()
    killed = start("--app", "bodies")
    killed.process.kill()
    assert killed.ended() == -9
    until(lambda: not Path(f"/proc/{killed.pid}").exists(), "nobody is left of it")


def test_one_that_would_import_something_else_is_a_new_one(tmp_path: Path) -> None:
    folder, code = tmp_path / "folder", tmp_path / "code"
    folder.mkdir()
    code.mkdir()
    given = {**clean_environment(tmp_path), "PYTHONPATH": f"{PACKAGE}{os.pathsep}{code}"}
    assert nursery().fits(given, folder)
    assert not nursery().fits({**given, "PYTHONHASHSEED": "1"}, folder)
    assert not nursery().fits({**given, "PYTHONPATH": str(code)}, folder)
    (code / "click.py").touch()
    assert not nursery().fits(given, folder)
