"""Judges whether qwf runs on a server that calls itself Postgres: `make engine DSN=...`.

It runs those tests of this checkout that need nothing but a server, and prints what holds. They
make their own databases next to the one in the address, whose name ends in _test, and touch no
other.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path

import psycopg
import pytest

TESTS = Path(__file__).resolve().parents[1] / "tests"
RACES = ("cancel", "claim", "enqueue", "expiry", "finish", "finish_and_claim", "input",
         "isolation", "limits", "maps", "outbox", "tick", "wake")  # fmt: skip
PARTS = {
    "deploy, verify, revert": ["test_migrate.py", "-k", "not sqitch"],
    "functions, one by one": ["test_pgtap.py"],
    "two sessions at once": [f"races/test_{name}.py" for name in RACES],
    "plans with bad statistics": ["test_plans.py"],
    "random operations against a model": ["machine/test_machine.py"],
    "agents with real children": ["agent/test_outcomes.py", "agent/test_waking.py"],
}


class Outcomes:
    """Counts the outcomes of a run of pytest, as its plugin."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)
        if report.when == "call" or report.skipped:
            self.counts[report.outcome] += 1


def server(dsn: str) -> str:
    """What the server says it is. Raises psycopg.Error."""
    with psycopg.connect(dsn, connect_timeout=10) as conn:
        name = conn.info.dbname
        if not name.endswith("_test"):
            raise SystemExit(f"the name of the database has to end in _test, not {name}")
        found = conn.execute("select version()").fetchone() or ("a server without a version",)
    return str(found[0])


def judge(files: list[str]) -> Outcomes:
    """Run the tests in these files, quietly."""
    found = Outcomes()
    given = [str(TESTS / one) if one.endswith(".py") else one for one in files]
    arguments = ["-q", "-p", "no:cacheprovider", "--tb=short", "--no-header", "-r", "f"]
    code = pytest.main([*arguments, *given], plugins=[found])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        found.failed.append(f"pytest ended with {code!r}")
    return found


def main() -> int:
    """Judge the server in DSN; the exit code is 1 if anything does not hold."""
    dsn = os.environ.get("DSN", "")
    if not dsn:
        raise SystemExit("which server? make engine DSN=postgresql://user@host/name_test")
    try:
        version = server(dsn)
    except psycopg.Error as error:
        raise SystemExit(f"cannot connect to it: {error}") from None
    os.environ["QWF_TEST_DSN"] = dsn
    found = {part: judge(files) for part, files in PARTS.items()}
    print(f"\n{version}")
    for part, outcomes in found.items():
        held, skipped = outcomes.counts["passed"], outcomes.counts["skipped"]
        print(f"  {part:34} {held:5} hold, {len(outcomes.failed):3} do not, {skipped:3} skipped")
    for outcomes in found.values():
        for name in outcomes.failed:
            print(f"    does not hold: {name}")
    return 1 if any(outcomes.failed for outcomes in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
