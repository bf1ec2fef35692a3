"""Writes a tree that stock sqitch can deploy, verify and revert: build/sqitch.

Scripts follow from sources, so most of them are not in the repository: `qwf migrate` derives them.
sqitch needs them as files, which this script writes. In the checkout itself sqitch refuses to
deploy and to revert, and names that folder.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from qwf_agent import migrate

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "build" / "sqitch"


def settings() -> str:
    """sqitch.conf without the lines that stop sqitch in a tree that lacks derived scripts."""
    text = (ROOT / "sqitch.conf").read_text(encoding="utf-8")
    return text.partition("# The checkout")[0] + "[deploy]\n\tverify = true\n"


def write(target: Path) -> int:
    """Write the plan and every script under `target`; returns how many scripts were derived."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    (target / "sqitch.conf").write_text(settings(), encoding="utf-8")
    shutil.copytree(ROOT / "sql", target / "sql", ignore=shutil.ignore_patterns("tests"))
    derived = 0
    for change in migrate.read_plan(ROOT / "sql" / "sqitch.plan").changes:
        for script in (change.deploy, change.revert, change.verify):
            if script.derived is not None:
                file = target / script.path.relative_to(ROOT)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(script.read(), encoding="utf-8")
                derived += 1
    return derived


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET
    derived = write(target)
    print(f"{derived} scripts derived; run sqitch in {target}")


if __name__ == "__main__":
    main()
