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


def test_its_tests_pass(empty_dsn: str, tmp_path: Path) -> None:
    programs = re.findall(r"^```python\n(# (\S+)\n.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert len(programs) == PAGE.count("```python")
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
    options = ("-q", "-p", "qwf_agent.testing.plugin", "-p", "no:cacheprovider")
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
