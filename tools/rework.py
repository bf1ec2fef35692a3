"""Reworks a released function: freezes its scripts and plans the change once more.

`make rework CHANGE=functions/claim/claim NOTE='...'` runs stock sqitch, with what sqitch needs and
the repository does not keep: the folders, and a revert script, which sqitch replaces by the old
deploy script. Then both scripts say `create or replace`; what is left to do is to edit the body.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from qwf_agent import migrate

ROOT = Path(__file__).resolve().parents[1]


def rework(root: Path, change: str, note: str) -> list[Path]:
    """Rework a function of the plan in `root`/sql and return the two scripts to edit.

    Raises MigrateError if the plan has no such function or sqitch is not installed, and
    CalledProcessError if sqitch fails: before the first tag, for example.
    """
    sql = root / "sql"
    found = [c for c in migrate.read_plan(sql / "sqitch.plan").changes if c.name == change]
    if not found or not change.startswith("functions/"):
        raise migrate.MigrateError(f"the plan has no function {change}: see sql/sqitch.plan")
    sqitch = shutil.which("sqitch")
    if sqitch is None:
        raise migrate.MigrateError("sqitch is needed: apt-get install sqitch libdbd-pg-perl")
    deploy, revert = sql / f"{change}.sql", sql / "revert" / f"{change}.sql"
    for folder in ("reworked/deploy", "reworked/revert", "reworked/verify", "revert"):
        (sql / folder / change).parent.mkdir(parents=True, exist_ok=True)
    derived = None if found[-1].revert.derived is None else found[-1].revert.read()
    if derived is not None:
        revert.write_text(derived, encoding="utf-8")
    try:
        subprocess.run([sqitch, "rework", change, "-n", note], cwd=root, check=True)
    except subprocess.CalledProcessError:
        if derived is not None:
            revert.unlink()
        raise
    if derived is not None:  # qwf migrate derives the frozen one too
        for frozen in (sql / "reworked" / "revert" / change).parent.glob("*@*.sql"):
            if frozen.read_text(encoding="utf-8") == derived:
                frozen.unlink()
    for script, verb in ((deploy, "Deploy"), (revert, "Revert")):
        text = script.read_text(encoding="utf-8")
        text = re.sub(r"\A-- \w+ ", f"-- {verb} ", text)
        text = re.sub(r"^create function", "create or replace function", text, flags=re.M)
        script.write_text(text, encoding="utf-8")
    return [deploy, revert]


def main() -> None:
    if len(sys.argv) != 3 or not all(sys.argv[1:]):
        sys.exit("say: make rework CHANGE=functions/claim/claim NOTE='What is new'")
    try:
        scripts = rework(ROOT, *sys.argv[1:])
    except (migrate.MigrateError, subprocess.CalledProcessError) as error:
        sys.exit(f"rework: {error}")
    print(f"edit {scripts[0].relative_to(ROOT)}; {scripts[1].relative_to(ROOT)} has the old body")


if __name__ == "__main__":
    main()
