"""The agent and the examples pass `qwf worker-check`; what an example leaves out, its head says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from qwf_agent.cli.worker_check import CHECKS
from support.checked_workers import CLIENTS, checked
from support.thorough import THOROUGH

QWF = [sys.executable, "-c", "from qwf_agent.cli import main; main()", "worker-check"]
# The checks that a worker leaves out, and what the head of its program says about that.
LEFT_OUT: dict[str, dict[str, str]] = {
    "agent": {},
    "bash": {
        "wakes": "does not sleep and is not woken",
        "listens-again": "does not sleep and is not woken",
        "progress": "cannot report progress or save checkpoints",
        "checkpoint": "cannot report progress or save checkpoints",
    },
    "go": {},
    "node": {"numbers": "numbers beyond 2^53 are rounded"},
    "ruby": {},
}
# The checks of an example by default. All of them take a minute for each example.
BRIEF = {"completed", "error", "checkpoint", "kept-log", "cancel", "off-hard", "stop-long"}
PROGRAMS = {"bash": "psql/worker.sh", "node": "node/worker.mjs"}


@pytest.mark.parametrize("kind", LEFT_OUT)
def test_a_worker_passes(kind: str, tmp_path: Path) -> None:
    whole = kind == "agent" or THOROUGH
    asked = {check.name for check in CHECKS} if whole else BRIEF
    skips = {check.name for check in CHECKS} - asked | LEFT_OUT[kind].keys()
    skipped = [word for name in sorted(skips) for word in ("--skip", name)]
    log = tmp_path / "log"
    command = [*QWF, "--json", "--log", str(log), *skipped, "--", *checked(kind, tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout, done.stderr
    results = {one["check"]: one for one in json.loads(done.stdout)}
    wrong = [one for one in results.values() if one["result"] == "failed"]
    assert not wrong, (wrong, log.read_text(encoding="utf-8", errors="replace")[-2000:])
    assert done.returncode == 0
    assert list(results) == [one.name for one in CHECKS]
    left_out = [name for name, one in results.items() if one["result"] == "skipped"]
    assert set(left_out) == skips


@pytest.mark.parametrize("kind", PROGRAMS)
def test_the_head_of_a_program_says_what_it_leaves_out(kind: str) -> None:
    text = (CLIENTS / PROGRAMS[kind]).read_text(encoding="utf-8")
    head = " ".join(line.lstrip("/# ") for line in text.splitlines()[:12])
    for words in LEFT_OUT[kind].values():
        assert words in head
