"""The rules of examples/prometheus: Prometheus reads them, each fires, and every figure exists."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.servers import ROOT

FOLDER = ROOT / "examples" / "prometheus"
RULES = yaml.safe_load((FOLDER / "qwf.rules.yml").read_text(encoding="utf-8"))
TESTS = yaml.safe_load((FOLDER / "qwf.rules.test.yml").read_text(encoding="utf-8"))
ALERTS: list[dict[str, Any]] = [rule for group in RULES["groups"] for rule in group["rules"]]


def test_each_alert_fires_and_none_does_in_a_calm_fleet() -> None:
    promtool = shutil.which("promtool")
    if promtool is None and os.environ.get("QWF_PROMTOOL") != "required":
        pytest.skip("promtool is not installed (Debian: apt-get install prometheus)")
    assert promtool is not None, "QWF_PROMTOOL=required"
    for words in (["check", "rules", "qwf.rules.yml"], ["test", "rules", "qwf.rules.test.yml"]):
        done = subprocess.run(
            [promtool, *words], cwd=FOLDER, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not() -> None:
    cases = [case for test in TESTS["tests"] for case in test["alert_rule_test"]]
    names = {alert["alert"] for alert in ALERTS}
    assert {case["alertname"] for case in cases if case["exp_alerts"]} == names
    assert {case["alertname"] for case in cases if not case["exp_alerts"]} == names


def test_the_alerts_are_those_of_the_documentation() -> None:
    text = Path(ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    table = text.partition("| alert | expression |\n")[2].partition("\n\n")[0]
    told = [line.replace("\\|", "|") for line in re.findall(r"`([^`]+)` \|$", table, re.MULTILINE)]
    assert told == [alert["expr"] for alert in ALERTS]
