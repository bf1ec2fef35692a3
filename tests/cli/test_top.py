"""`qwf top`, driven by key presses, on a real database."""

from __future__ import annotations

import asyncio
import os
import pty
import re
import select
import struct
import sys
import termios
import time
from collections.abc import Awaitable, Callable, Iterator
from fcntl import ioctl
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.json import Jsonb
from textual.pilot import Pilot
from textual.widgets import ContentSwitcher, DataTable, Input, Static

from qwf_agent.cli.top import panels
from qwf_agent.cli.top.app import Top
from qwf_agent.cli.top.dialogs import AnswerDialog, ConfirmDialog, DetailsDialog
from qwf_agent.cli.top.fleet import FleetConnection
from qwf_agent.look import connection
from support.poison import JSON, fill
from support.screens import screen, until
from support.servers import Server
from support.welcome import OPTIONS, Cli

Db = psycopg.Connection[Any]
Screen = Callable[[Pilot[None]], Awaitable[None]]
SIZES = [(80, 24), (160, 50)]


@pytest.fixture
def fleet(dsn: str, db: Db) -> Iterator[FleetConnection]:
    """A fleet with a bit of everything."""
    box_a = db.execute("select qwf.register_worker('box-a', 'cpu', '{\"slots\": 2}')").fetchone()
    db.execute("select qwf.register_worker('box-b', 'gpu', '{\"current_model\": \"flux\"}')")
    for task in ("resize", "crop", "blur"):
        db.execute("select qwf.enqueue(%s, queue => 'cpu')", (task,))
    db.execute("select from qwf.claim('cpu', %s, 1)", box_a)
    db.execute(
        "select qwf.progress(id, token, 0.4, 'page 3') from qwf.jobs where token is not null"
    )
    db.execute(
        "select qwf.finish(job_id, token, 'fatal', null, E'Traceback\\n x\\nValueError: no luck')"
        " from qwf.claim('cpu', %s, 1)",
        box_a,
    )
    card = {"id": 0, "use_pct": 97, "vram_used_mb": 1024, "vram_total_mb": 4096}
    sample = {"cpu_percent": 43, "ram_percent": 61, "ram_total_mb": 24000, "gpus": [card]}
    db.execute("select qwf.report_metrics('box-a', %s)", (Jsonb(sample),))

    def connect() -> connection.Connection:
        return connection.connect(dsn, notices=False)

    with FleetConnection(connect, connect) as found:
        yield found


def test_control_characters_do_not_reach_the_terminal(fleet: FleetConnection, db: Db) -> None:
    db.execute("update qwf.jobs set task = E'a\\x1b[2Jb', last_error = E'\\x07'")
    seen = fleet.look()
    assert {row["task"] for row in [*seen.running, *seen.failed]} == {"a\u241b[2Jb"}
    job, _, _ = fleet.job(seen.failed[0]["id"])
    assert (job["task"], job["last_error"]) == ("a\u241b[2Jb", "\u2407")


SERVER = {"kind": "openai", "parallel": 8, "models": {"qwen": 9500}}
DOING = [
    {"name": "vllm", "state": "ready", "model": "qwen", "inflight": 3, "tokens_per_s": 61.6},
    {"name": "llama", "state": "broken", "error": "exit 1: no card\nits log"},
    {"name": "small", "state": "starting", "model": "qwen"},
]


@pytest.mark.parametrize("size", SIZES)
def test_each_model_server_has_a_line_and_those_in_trouble_come_first(
    fleet: FleetConnection, db: Db, size: tuple[int, int]
) -> None:
    info = {"servers": [{**SERVER, "name": one["name"]} for one in DOING]}
    db.execute(
        "select qwf.update_worker(id, %s) from qwf.workers where host = 'box-b'", (Jsonb(info),)
    )
    stats = Jsonb({"servers": DOING})
    db.execute(
        "select qwf.heartbeat(id, stats => %s) from qwf.workers where host = 'box-b'", (stats,)
    )

    async def look(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "llama broken  0/8 exit 1: no card" in "\n".join(screen(pilot)))
        text = "\n".join(screen(pilot))
        assert "its log" not in text
        assert "box-b" in text
        if size == SIZES[1]:  # there is room for those that work
            assert text.index("llama broken") < text.index("vllm ready qwen 3/8 62 tokens/s")
        else:
            assert "vllm ready" not in text

    drive(fleet, size, look)


def test_a_deep_queue_is_counted_to_ten_thousand(fleet: FleetConnection, db: Db) -> None:
    db.execute(
        "insert into qwf.jobs (task, queue, status, position, queued_at)"
        " select 't', 'gpu', 'queued', g, qwf.now() from generate_series(1, 10001) g"
    )

    async def look(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: ">10,001 queued" in "\n".join(screen(pilot)))
        await until(
            pilot, lambda: re.search(r"\bgpu .*>10,000 ", "\n".join(screen(pilot))) is not None
        )

    drive(fleet, SIZES[1], look)


def test_a_queue_names_its_held_tasks(fleet: FleetConnection, db: Db) -> None:
    db.execute(
        "insert into qwf.held_tasks (queue, task, hosts, crashes, other_ends, crashed_at, until)"
        " values ('gpu', 'killer', '{box-a,box-b}', 2, 0, now(), now() + interval '5 min')"
    )

    async def look(pilot: Pilot[None]) -> None:
        await until(
            pilot, lambda: re.search(r"\bgpu .* killer\b", "\n".join(screen(pilot))) is not None
        )

    drive(fleet, SIZES[1], look)


def drive(fleet: FleetConnection, size: tuple[int, int], script: Screen) -> None:
    """Run the screen of that size, and the script on it."""

    async def run() -> None:
        async with Top(fleet, every=0.2).run_test(size=size, notifications=True) as pilot:
            await until(pilot, lambda: table(pilot, "workers").row_count == 2)
            await script(pilot)

    asyncio.run(run())


def table(pilot: Pilot[None], name: str) -> DataTable[Any]:
    return pilot.app.query_one(f"#{name}", DataTable)


def shown(pilot: Pilot[None], name: str) -> str:
    """The rows of a list as text."""
    rows = table(pilot, name)
    return "\n".join(
        " ".join(str(cell) for cell in rows.get_row_at(n)) for n in range(rows.row_count)
    )


@pytest.mark.parametrize("size", SIZES)
def test_everything_is_on_one_screen(fleet: FleetConnection, size: tuple[int, int]) -> None:
    async def look(pilot: Pilot[None]) -> None:
        for part in ("1 queued", "1 running", "box-a", "box-b", "resize", "40% page 3", "q quit",
                     "cpu ━━━─────  43%", "gpu0 ━━━━━━━━  97%", "vram ━━──────  25%"):  # fmt: skip
            await until(pilot, lambda part=part: part in "\n".join(screen(pilot)))
        lines = screen(pilot)
        assert len(lines) == size[1]
        assert {len(line) for line in lines} == {size[0]}
        await pilot.press("2")
        await until(pilot, lambda: "ValueError: no luck" in "\n".join(screen(pilot)))
        assert "Traceback" not in "\n".join(screen(pilot))
        await pilot.press("right", "right")
        await until(pilot, lambda: "flux" in "\n".join(screen(pilot)))

    drive(fleet, size, look)


def test_no_value_in_the_database_ends_it(fleet: FleetConnection, db: Db) -> None:
    async def walk(pilot: Pilot[None]) -> None:
        fill(db)
        for key, name in (("2", "failed"), ("3", "questions")):
            await pilot.press(key)
            await until(pilot, lambda name=name: table(pilot, name).row_count >= len(JSON))
            for _ in range(table(pilot, name).row_count):
                await pilot.press("i")
                await until(pilot, lambda: isinstance(pilot.app.screen, DetailsDialog))
                await pilot.press("escape")
                await until(pilot, lambda: not isinstance(pilot.app.screen, DetailsDialog))
                await pilot.press("down")
        for _ in range(table(pilot, "questions").row_count):
            await pilot.press("a")
            await until(pilot, lambda: isinstance(pilot.app.screen, AnswerDialog))
            await pilot.press("escape")
            await until(pilot, lambda: not isinstance(pilot.app.screen, AnswerDialog))
            await pilot.press("up")
        assert "cannot" not in screen(pilot)[0]

    drive(fleet, (160, 24), walk)


def test_what_it_cannot_read_or_draw_is_said_in_the_headline(
    fleet: FleetConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(pilot: Pilot[None]) -> None:
        for where, name, said in (
            (fleet, "look", "cannot read the fleet: division by zero"),
            (panels, "hosts", "cannot draw the fleet: division by zero"),
        ):
            with monkeypatch.context() as broken:
                broken.setattr(where, name, lambda *_: 1 / 0)
                await until(pilot, lambda said=said: said in screen(pilot)[0])
            await until(pilot, lambda: "running" in screen(pilot)[0])

    drive(fleet, SIZES[0], fail)


def test_each_list_offers_its_own_keys(fleet: FleetConnection) -> None:
    async def look(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "c cancel" in screen(pilot)[-1])
        assert "drain" not in screen(pilot)[-1]
        await pilot.press("4")
        await until(pilot, lambda: "d drain" in screen(pilot)[-1])
        assert "cancel" not in screen(pilot)[-1]
        pilot.app.action_list("failed")  # type: ignore[attr-defined]
        assert pilot.app.query_one(ContentSwitcher).current == "failed"  # at once
        pilot.app.action_list("workers")  # type: ignore[attr-defined]
        await pilot.pause(0.3)  # the tab of the first one says so only now
        assert pilot.app.query_one(ContentSwitcher).current == "workers"

    drive(fleet, SIZES[0], look)


def test_a_job_is_cancelled_after_a_question(fleet: FleetConnection, db: Db) -> None:
    asked = "select count(*) from qwf.cancel_requests"

    async def cancel(pilot: Pilot[None]) -> None:
        await pilot.press("c")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
        await pilot.press("n")
        await until(pilot, lambda: not isinstance(pilot.app.screen, ConfirmDialog))
        assert db.execute(asked).fetchone() == (0,)
        await pilot.press("c")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
        await pilot.press("y")
        await until(pilot, lambda: db.execute(asked).fetchone() == (1,))

    drive(fleet, SIZES[0], cancel)


def test_a_failed_job_is_retried(fleet: FleetConnection, db: Db) -> None:
    failed = "select count(*) from qwf.jobs where status = 'failed'"

    async def retry(pilot: Pilot[None]) -> None:
        await pilot.press("2", "r")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
        await pilot.press("y")
        await until(pilot, lambda: db.execute(failed).fetchone() == (0,))
        await until(pilot, lambda: "ValueError" not in shown(pilot, "failed"))

    drive(fleet, SIZES[0], retry)


def test_a_worker_is_switched_off_and_on(fleet: FleetConnection, db: Db) -> None:
    off = "select queue from qwf.switched_off where host = 'box-b'"

    async def switch(pilot: Pilot[None]) -> None:
        await pilot.press("4", "down")
        await until(pilot, lambda: table(pilot, "workers").cursor_row == 1)
        await pilot.press("d")
        await until(pilot, lambda: db.execute(off).fetchone() == ("gpu",))
        await until(pilot, lambda: "drain" in shown(pilot, "workers"))
        await pilot.press("x")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
        await pilot.press("y")
        await until(pilot, lambda: "off" in shown(pilot, "workers"))
        await pilot.press("o")
        await until(pilot, lambda: db.execute(off).fetchone() is None)

    drive(fleet, SIZES[1], switch)


def test_a_question_is_answered(
    applied: Cli, work: Callable[..., list[str]], fleet: FleetConnection, db: Db
) -> None:
    run = applied("run", "welcome").stdout.strip()
    work()

    async def answer(pilot: Pilot[None]) -> None:
        await pilot.press("3")
        await until(pilot, lambda: "Which one?" in shown(pilot, "questions"))
        await pilot.press("a")
        await until(pilot, lambda: isinstance(pilot.app.screen, AnswerDialog))
        assert "#2 bye" in "\n".join(screen(pilot))
        await pilot.press("#", "9", "enter")
        await until(pilot, lambda: not isinstance(pilot.app.screen, AnswerDialog))
        await until(pilot, lambda: "no option #9" in "\n".join(screen(pilot)))
        await pilot.press("a")
        await until(pilot, lambda: isinstance(pilot.app.screen, AnswerDialog))
        pilot.app.screen.query_one(Input).value = "#2"
        await pilot.press("enter")
        status = "select status::text from qwf.runs where id = %s"
        await until(pilot, lambda: db.execute(status, (run,)).fetchone() == ("completed",))

    drive(fleet, SIZES[0], answer)
    output = db.execute("select output from qwf.jobs where node_id = 'pick'").fetchone()
    assert output == ({"choice": OPTIONS[1]},)


def test_a_job_is_shown_in_full(fleet: FleetConnection) -> None:
    async def look(pilot: Pilot[None]) -> None:
        await pilot.press("2", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, DetailsDialog))
        await until(pilot, lambda: "timeline" in "\n".join(screen(pilot)))
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, DetailsDialog))
        assert pilot.app.query_one(ContentSwitcher).current == "failed"

    drive(fleet, SIZES[0], look)


def test_control_characters_inside_a_job_do_not_reach_the_terminal(
    fleet: FleetConnection, db: Db
) -> None:
    label = Jsonb({"id": 1, "label": "a\x1b[2Jb\x9bc"})
    db.execute("update qwf.jobs set output = %s where status = 'failed'", (label,))

    async def look(pilot: Pilot[None]) -> None:
        await pilot.press("2", "enter")
        await until(pilot, lambda: "a\u241b[2Jb\ufffdc" in "\n".join(screen(pilot)))

    drive(fleet, SIZES[1], look)


def test_the_selected_row_stays_selected_when_other_rows_change(
    fleet: FleetConnection, db: Db
) -> None:
    async def look(pilot: Pilot[None]) -> None:
        db.execute("select from qwf.claim('cpu', 'psql', 1)")
        await until(pilot, lambda: table(pilot, "running").row_count == 2)
        await pilot.press("down")
        await until(pilot, lambda: table(pilot, "running").cursor_row == 1)
        db.execute("select qwf.finish(id, token, 'completed') from qwf.jobs where task = 'resize'")
        await until(pilot, lambda: table(pilot, "running").row_count == 1)
        assert "blur" in shown(pilot, "running")
        assert table(pilot, "running").cursor_row == 0

    drive(fleet, SIZES[0], look)


def test_a_lost_database_is_reported_until_it_is_back(
    fleet: FleetConnection, dsn: str, server: Server
) -> None:
    def head(pilot: Pilot[None]) -> str:
        return str(pilot.app.query_one("#headline", Static).render())

    async def look(pilot: Pilot[None]) -> None:
        name = conninfo_to_dict(dsn)["dbname"]
        with psycopg.connect(server.dsn(server.maintenance), autocommit=True) as side:
            side.execute(f"alter database {name} allow_connections false")
            cut = "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s"

            def is_told() -> bool:  # a session that is just beginning is not listed at once
                side.execute(cut, (name,))
                return "no database" in head(pilot)

            await until(pilot, is_told)
            side.execute(f"alter database {name} allow_connections true")
        await until(pilot, lambda: "running" in head(pilot))

    drive(fleet, SIZES[0], look)


def test_it_needs_a_terminal(on_db: Cli) -> None:
    result = on_db("top")
    assert result.exit_code == 1
    assert "terminal" in result.stderr


def test_it_runs_in_a_real_terminal_and_restores_it(fleet: FleetConnection, dsn: str) -> None:
    child, terminal = pty.fork()
    if child == 0:
        os.environ |= {"QWF_DSN": dsn, "TERM": "xterm-256color"}
        code = "from qwf_agent.cli import main; main()"
        os.execv(sys.executable, [sys.executable, "-c", code, "top"])
    ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    drawn, deadline = b"", time.monotonic() + 60
    while b"page 3" not in drawn:
        assert time.monotonic() < deadline, drawn
        if select.select([terminal], [], [], 0.2)[0]:
            drawn += os.read(terminal, 65536)
    os.write(terminal, b"q")
    while True:
        try:
            drawn += os.read(terminal, 65536)
        except OSError:  # it has exited
            break
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert b"\x1b[?1049l" in drawn  # the alternate screen was left
    assert b"Traceback" not in drawn
