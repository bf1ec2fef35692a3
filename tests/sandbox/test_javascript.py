"""The example of docs/javascript.md: tests of a JavaScript program against the real SQL."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from qwf_agent import migrate
from support import sandbox
from support.servers import ROOT


def test_the_tests_of_a_javascript_program_pass(tmp_path: Path) -> None:
    sandbox.need_npm_packages()
    for file in (ROOT / "examples" / "javascript").iterdir():
        shutil.copy(file, tmp_path)
    (tmp_path / "node_modules").symlink_to(sandbox.MODULES, target_is_directory=True)
    sql = "".join(change.deploy.read() for change in migrate.read_plan().sources.changes)
    (tmp_path / "qwf.sql").write_text(sql, encoding="utf-8")
    command = ["node", sandbox.QUICK, "--test", "sign_up.test.mjs"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=sandbox.PATIENCE_S
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert "pass 3" in done.stdout
