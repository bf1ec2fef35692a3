"""The verb `qwf web`: its link, whom it lets in, and what it refuses."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
import uvicorn
from click.testing import CliRunner, Result

from qwf_agent.cli import qwf
from qwf_agent.web import command
from support.servers import ROOT

Start = Any


@pytest.fixture
def environment(dsn: str, tmp_path: Path) -> dict[str, str]:
    known = {name: value for name, value in os.environ.items() if not name.startswith("QWF_")}
    paths = {"PYTHONPATH": str(ROOT / "python"), "QWF_HOME": str(tmp_path / "home")}
    return {**known, **paths, "QWF_DSN": dsn}


@pytest.fixture
def start(environment: dict[str, str], tmp_path: Path) -> Iterator[Start]:
    """Starts `qwf web` with options; returns the process and the line it prints."""
    started: list[subprocess.Popen[str]] = []

    def run(*options: str) -> tuple[subprocess.Popen[str], str]:
        process = subprocess.Popen(
            [sys.executable, "-c", "from qwf_agent.cli import main; main()", "web", *options],
            env=environment, cwd=tmp_path, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        started.append(process)
        assert process.stdout is not None
        return process, process.stdout.readline().strip()

    yield run
    for process in started:
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def test_the_link_opens_the_page_and_ctrl_c_ends_it(start: Start) -> None:
    process, link = start("--port", "0")
    assert link.startswith("http://127.0.0.1:")
    assert "?token=" in link
    with httpx.Client(follow_redirects=True, timeout=60) as client:
        assert "Overview" in client.get(link).text
    with httpx.Client(timeout=60) as stranger:
        assert stranger.get(link.partition("?")[0]).status_code == 401
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode in (0, 130)


def test_it_ends_while_a_stream_is_open(start: Start) -> None:
    process, link = start("--port", "0")
    with httpx.Client(follow_redirects=True, timeout=60) as client:
        client.get(link)
        with client.stream("GET", link.partition("?")[0] + "stream") as stream:
            assert next(stream.iter_lines()).startswith("retry")
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    assert "Cancel" not in errors


@pytest.fixture
def refused(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Result]]:
    """Runs `qwf web` with options in this process. It must not serve."""

    def served(*_: object, **__: object) -> None:
        pytest.fail("it serves")

    monkeypatch.setattr(uvicorn.Server, "run", served)
    monkeypatch.chdir(tmp_path)
    yield lambda *options: CliRunner().invoke(qwf, ["web", *options], env=environment)
    gc.unfreeze()


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--host", "0.0.0.0"], 78, "say who may come"),
        (["--host", "192.0.2.1"], 78, "say who may come"),
        (["--host", "0.0.0.0", "--sign-in"], 78, "--insecure-http"),
        (["--sign-in"], 78, "over TCP"),
        (["--trust-header", "X-User"], 78, "needs --from"),
        (["--from", "10.0.0.1"], 2, "belongs to --trust-header"),
        (["--sign-in", "--trust-header", "X-User"], 2, "exclude each other"),
        (["--tls-cert", "/etc/passwd"], 2, "belong together"),
        (["--dsn", "postgresql://127.0.0.1:1/x"], 69, "127.0.0.1"),
        (["--prot", "1"], 2, "--port"),
    ],
)
def test_what_it_cannot_do_safely_it_does_not_start(
    refused: Callable[..., Result], options: list[str], code: int, said: str
) -> None:
    done = refused(*options)
    assert (done.stdout, done.exit_code) == ("", code), done.output
    assert said in done.stderr


def test_a_port_that_is_taken_is_said(refused: Callable[..., Result]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = refused("--port", str(taken.getsockname()[1]))
    assert done.exit_code == 78
    assert "--port takes another one" in done.stderr


def test_an_answer_is_sent_at_once() -> None:
    """Without TCP_NODELAY, the body of a page waits until the other end confirms its head."""

    async def option() -> int:
        asked: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            accepted = writer.get_extra_info("socket")
            asked.set_result(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listening = command._listen(None, "127.0.0.1", 0)
        async with await asyncio.start_server(answer, sock=listening):
            _, writer = await asyncio.open_connection(*listening.getsockname())
            found = await asked
            writer.close()
        return found

    assert asyncio.run(option()) == 1


def test_no_page_waits_for_a_collection_of_what_was_imported(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[int] = []
    monkeypatch.setattr(
        uvicorn.Server, "run", lambda server, sockets: looked_at.append(len(gc.get_objects()))
    )
    for name in ("QWF_HOME", "QWF_DSN"):
        monkeypatch.setenv(name, environment[name])
    try:
        shown = CliRunner().invoke(command.web, ["--port", "0"], catch_exceptions=False)
    finally:
        gc.unfreeze()
    assert shown.exit_code == 0, shown.output
    assert looked_at[0] < len(gc.get_objects()) / 10
