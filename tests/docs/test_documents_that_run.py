"""The documents that say so are run from top to bottom, as a reader would."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from qwf_agent import embedded
from support.documents import Block, chapters, reader
from support.harness import until
from support.letterbox import mail_server
from support.servers import ROOT
from support.thorough import THOROUGH
from support.warm_qwf import warm_qwf

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


@pytest.fixture(scope="module")
def programs() -> Iterator[list[str]]:
    """Folders with `qwf`, and with what else the tests have installed."""
    venv = Path(sys.executable).parent
    with contextlib.ExitStack() as stack:
        found = [str(venv), str(embedded.binaries()), os.environ["PATH"]]
        if not THOROUGH:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="qwf-")))
            warm = stack.enter_context(warm_qwf(folder, ROOT / "python", venv / "qwf"))
            found.insert(0, str(warm))
        yield found


@pytest.fixture
def environment(programs: list[str]) -> Iterator[dict[str, str]]:
    """A new user: an empty home with a short path, for the socket of the server."""
    with tempfile.TemporaryDirectory(prefix="qwf-") as home:
        path = os.pathsep.join(programs)
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


def test_the_first_night_ends_with_a_mail(
    environment: dict[str, str], dsn: str, tmp_path: Path
) -> None:
    """As a reader does it, with a mail server on loopback that wants no password."""
    text = chapters(DOCS / "alerts.md")["The first night"]
    with (
        mail_server(tmp_path, tls=False) as (mails, port, _),
        reader(tmp_path, {**environment, "QWF_DSN": dsn}, dsn) as one,
    ):
        theirs = 'smtp = "smtps://qwf@mail.example.org"\npassword-file = "/etc/qwf/smtp"'
        assert theirs in text
        text = text.replace(theirs, f'smtp = "smtp://127.0.0.1:{port}"\ntls = false')
        before, mended, after = text.partition("5. Mend it")
        one.read(before)
        until(lambda: len(mails.taken) == 2, "the mail about the run")
        test, failed = (mail["Subject"] for mail in mails.taken)
        assert test.startswith("test: ")
        assert failed.startswith("run 1 of nightly failed: load failed: FileNotFoundError")
        one.read(mended + after)
        one.take(Block("sh", "until qwf show 1 | grep -q completed; do sleep 0.2; done"))


@pytest.mark.parametrize("text", CHAPTERS)
def test_a_chapter_works_as_written(
    text: str, environment: dict[str, str], dsn: str, tmp_path: Path
) -> None:
    with reader(tmp_path, {**environment, "QWF_DSN": dsn}, dsn) as one:
        one.read(text)
