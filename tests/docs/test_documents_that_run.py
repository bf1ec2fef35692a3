"""The documents that say so are run from top to bottom, as a reader would."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from qwf_agent import embedded
from support.documents import Block, chapters, reader
from support.servers import ROOT

DOCS = ROOT / "docs"
SHORT_LEASE = "update qwf.settings set lease = '6 s', heartbeat = '1 s'"
CHAPTERS = [
    pytest.param(text, id=f"{name}: {title}")
    for name in (
        "recipes",
        "coming-from",
        "commands",
        "checkpoints",
        "signals",
        "when-things-go-wrong",
        "many-jobs",
    )
    for title, text in chapters(DOCS / f"{name}.md").items()
]


@pytest.fixture
def environment() -> Iterator[dict[str, str]]:
    """A new user: an empty home with a short path, for the socket of the server."""
    with tempfile.TemporaryDirectory(prefix="qwf-") as home:
        venv = ROOT / ".venv" / "bin"
        path = os.pathsep.join([str(venv), str(embedded.binaries()), os.environ["PATH"]])
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("QWF_", "PG"))}
        yield {**kept, "HOME": home, "PATH": path, "PYTHONPATH": str(ROOT / "python")}


def test_the_tutorial_works_as_written(environment: dict[str, str], tmp_path: Path) -> None:
    """Only the lease is shorter than the 30 seconds that a reader waits for it to lapse."""
    dsn = f"postgresql:///qwf?host={environment['HOME']}/.qwf/postgres&port=5432&user=postgres"
    try:
        with reader(tmp_path, environment, dsn) as one:
            text = (DOCS / "tutorial.md").read_text(encoding="utf-8")
            before, crash, after = text.partition("\n## 4. Crash it\n")
            assert crash
            one.read(before)
            one.take(Block("sql", SHORT_LEASE))
            one.read(after)
    finally:
        subprocess.run(["qwf", "down"], env=environment)


@pytest.mark.parametrize("page", ["workflows-in-python", "tracing"])
def test_a_page_works_as_written(
    page: str, environment: dict[str, str], dsn: str, tmp_path: Path
) -> None:
    with reader(tmp_path, {**environment, "QWF_DSN": dsn}, dsn) as one:
        one.read((DOCS / f"{page}.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("text", CHAPTERS)
def test_a_chapter_works_as_written(
    text: str, environment: dict[str, str], dsn: str, tmp_path: Path
) -> None:
    with reader(tmp_path, {**environment, "QWF_DSN": dsn}, dsn) as one:
        one.read(text)
