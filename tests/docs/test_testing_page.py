"""docs/testing.md is correct: its tests run, in a pytest of their own, and pass."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

from support.servers import ROOT

PAGE = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
OWN = PAGE.partition("\n## Django\n")[0]  # tests/migrate/test_own_migrations.py runs that chapter

SHOP = """
from qwf_agent import App

app = App()


@app.task()
def send_email(to: str) -> None:
    print(to)
"""
WRONG = """

def wrong(run_until_idle: RunUntilIdle) -> None:
    run_until_idle(most="many")
"""


def test_its_tests_pass(empty_dsn: str, tmp_path: Path) -> None:
    programs = re.findall(r"^```python\n(# (\S+)\n.*?)^```$", OWN, re.MULTILINE | re.DOTALL)
    assert len(programs) == OWN.count("```python")
    for text, name in programs:
        (tmp_path / name).write_text(text, encoding="utf-8")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "QWF_", "PG"))}
    environment = {
        **kept,
        "QWF_TEST_DSN": empty_dsn,
        "QWF_HOME": str(tmp_path / "home"),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONPATH": os.pathsep.join((str(ROOT / "python"), str(tmp_path))),
        "PATH": f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}",
    }
    # In a folder of its own: pytest closes the common one, where servers of other tests lie.
    folder = f"--basetemp={tmp_path / 'base'}"
    options = ("-q", "-p", "qwf_agent.testing.plugin", "-p", "no:cacheprovider", folder)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options], cwd=tmp_path, env=environment,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    tests = sum(text.count("\ndef test_") for text, _ in programs)
    assert f"\n{tests} passed" in done.stdout


def test_it_lists_every_fixture_that_a_test_takes() -> None:
    plugin = (ROOT / "python" / "qwf_agent" / "testing" / "plugin.py").read_text(encoding="utf-8")
    fixtures = re.findall(r"^@pytest\.fixture\ndef (\w+)", plugin, re.MULTILINE)
    assert fixtures
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == set(fixtures)
    for name in re.findall(
        r'^@pytest\.fixture\(scope="session"\)\ndef (\w+)', plugin, re.MULTILINE
    ):
        assert name in PAGE


def test_its_types_please_a_strict_type_checker(tmp_path: Path) -> None:
    typed = re.search(r"^```python\n(# test_typed\.py\n.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert typed
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    (tmp_path / "test_typed.py").write_text(typed[1], encoding="utf-8")
    (tmp_path / "test_wrong.py").write_text(typed[1] + WRONG, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary",
         f"--cache-dir={ROOT / '.mypy_cache' / 'typed'}", "test_typed.py", "test_wrong.py"],
        cwd=tmp_path, env={"MYPYPATH": str(ROOT / "python"), "PATH": ""},
        capture_output=True, text=True,
    )  # fmt: skip
    (said,) = done.stdout.splitlines()
    assert said.startswith("test_wrong.py:"), done.stdout + done.stderr
    assert 'Argument "most"' in said
