"""`make lint` finds nothing. mypy takes a minute without its cache."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.servers import ROOT


@pytest.mark.parametrize("words", [["ruff", "check", "."], ["mypy"]], ids=["ruff", "mypy"])
def test_it_finds_nothing(words: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
