"""Stock sqitch and pg_dump, run on a database of the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from support.servers import Server

needs_sqitch = pytest.mark.skipif(shutil.which("sqitch") is None, reason="sqitch is not installed")
IDENTITY = {"SQITCH_FULLNAME": "A Test", "SQITCH_EMAIL": "test@qwf.invalid"}


def sqitch(folder: Path, *arguments: str, dsn: str | None = None) -> None:
    """Run a sqitch command in `folder`, on a database if one is given."""
    environ = dict(IDENTITY)
    target = []
    if dsn is not None:
        parts = conninfo_to_dict(dsn)
        keys = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD"}
        environ |= {variable: str(parts[key]) for key, variable in keys.items() if parts.get(key)}
        target = [f"db:pg:{parts['dbname']}"]
    done = subprocess.run(
        ["sqitch", *arguments, *target],
        cwd=folder,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def dump(server: Server, dsn: str) -> str:
    """The schemas of the engine as pg_dump writes them."""
    if server.cluster is None:
        pytest.skip("pg_dump must match the server, and QWF_TEST_DSN names another one")
    tool = server.cluster.bin / "pg_dump"
    done = subprocess.run(
        [str(tool), "-s", "-n", "qwf", "-n", "_qwf", "-d", dsn],
        capture_output=True,
        text=True,
        check=True,
    )
    # Since 2025 pg_dump writes a random key into its output.
    return "".join(line for line in done.stdout.splitlines(True) if "restrict " not in line)
