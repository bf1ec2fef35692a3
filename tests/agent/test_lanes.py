"""Jobs that need a card run one at a time on it, light jobs run beside them, up to all slots."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.harness import DRIVER, Database, StartAgent, lines, until

GIB = 1 << 30


def enqueue(base: Database, task: str, light: bool = False, **args: Any) -> int:
    """A job on the gpu queue. Only workflow nodes can be light, so the test sets the column."""
    with base.conn.transaction():
        job_id = base.enqueue(task, args, queue="gpu")
        base.conn.execute("update qwf.jobs set light = %s where id = %s", (light, job_id))
    return job_id


@pytest.fixture
def cards(tmp_path: Path) -> dict[str, str]:
    """The environment of an agent that sees two idle cards."""
    file = tmp_path / "cards.json"
    file.write_text(json.dumps([[0, GIB, 16 * GIB], [0, GIB, 24 * GIB]]))
    return {"FAKE_CARDS": str(file), "PYTHONPATH": DRIVER}


def most_at_once(journal: Path, kind: str = "") -> int:
    """The highest number of bodies (with names that begin like this) that ran together."""
    together = [line.partition(": ")[2].split(",") for line in lines(journal)]
    return max(sum(1 for name in names if name.startswith(kind)) for names in together)


def test_heavy_jobs_run_one_at_a_time_and_light_ones_beside_them(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    journal, folder = tmp_path / "journal", tmp_path / "running"
    folder.mkdir()
    start("--app", "modelling", "--queue", "gpu", "--gpu", "none", "--slots", "3",
          JOURNAL=str(journal))  # fmt: skip
    where = {"folder": str(folder), "seconds": 0.05}
    ids = [enqueue(base, "together", name=f"heavy {n}", **where) for n in range(6)]
    ids += [enqueue(base, "together", light=True, name=f"light {n}", **where) for n in range(12)]
    assert {base.ended(job_id)["status"] for job_id in ids} == {"completed"}
    assert most_at_once(journal, "heavy") == 1
    assert most_at_once(journal) <= 3


def test_a_light_job_passes_heavy_ones_that_wait_for_the_card(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    folder, gate = tmp_path / "running", tmp_path / "gate"
    folder.mkdir()
    start("--app", "modelling", "--queue", "gpu", "--gpu", "none", "--slots", "3")
    where = {"folder": str(folder)}
    first = enqueue(base, "together", name="first", until=str(gate), **where)
    until((folder / "first").exists)
    waiting = [enqueue(base, "together", name=f"waits {n}", **where) for n in range(2)]
    light = [
        enqueue(base, "together", light=True, name=f"light {n}", until=str(gate), **where)
        for n in range(4)
    ]
    until(lambda: len(list(folder.glob("light*"))) == 2, "two light jobs beside it")
    assert [base.job(job_id)["status"] for job_id in waiting] == ["queued", "queued"]
    assert [base.job(job_id)["status"] for job_id in light].count("running") == 2, "3 in all"
    gate.touch()
    for job_id in (first, *waiting, *light):
        assert base.ended(job_id)["status"] == "completed"


def test_light_jobs_alone_use_every_slot(base: Database, start: StartAgent, tmp_path: Path) -> None:
    folder, gate = tmp_path / "running", tmp_path / "gate"
    folder.mkdir()
    start("--app", "modelling", "--queue", "gpu", "--gpu", "none", "--slots", "2")
    where = {"folder": str(folder), "until": str(gate)}
    ids = [enqueue(base, "together", light=True, name=f"light {n}", **where) for n in range(2)]
    until(lambda: len(list(folder.iterdir())) == 2, "both")
    gate.touch()
    assert {base.ended(job_id)["status"] for job_id in ids} == {"completed"}


def test_every_card_has_a_child_of_its_own(
    base: Database, start: StartAgent, tmp_path: Path, cards: dict[str, str]
) -> None:
    folder, gate = tmp_path / "running", tmp_path / "gate"
    folder.mkdir()
    agent = start("--app", "modelling", "--queue", "gpu", **cards)
    assert "2 slots, one for card 0 and card 1" in agent.said()
    where = {"folder": str(folder), "until": str(gate)}
    ids = [enqueue(base, "together", name=f"heavy {n}", **where) for n in range(3)]
    until(lambda: len(list(folder.iterdir())) == 2, "one on each card")
    gate.touch()
    assert {base.ended(job_id)["status"] for job_id in ids} == {"completed"}
    worker = base.conn.execute("select slots, vram_mb from qwf.workers").fetchone()
    assert worker == {"slots": 2, "vram_mb": 24 * 1024}


@pytest.mark.parametrize(("gpu", "lanes"), [("1", ["1"]), ("all", ["0", "1"]), ("none", [""])])
def test_a_child_sees_the_card_of_its_lane(
    base: Database, start: StartAgent, cards: dict[str, str], gpu: str, lanes: list[str]
) -> None:
    start("--app", "modelling", "--queue", "gpu", "--gpu", gpu, **cards)
    output = base.ended(enqueue(base, "cards"))["output"]
    assert output in [{"cuda": card, "hip": card} for card in lanes]


def test_the_next_job_gets_another_card(
    base: Database, start: StartAgent, tmp_path: Path, cards: dict[str, str]
) -> None:
    folder, gate = tmp_path / "running", tmp_path / "gate"
    folder.mkdir()
    start("--app", "modelling", "--queue", "gpu", "--gpu", "all", **cards)
    enqueue(base, "together", name="first", folder=str(folder), until=str(gate))
    until(lambda: (folder / "first").exists() and (folder / "first").read_text())
    taken = (folder / "first").read_text()  # the card of the child that was ready first
    assert {taken, base.ended(enqueue(base, "cards"))["output"]["cuda"]} == {"0", "1"}
    gate.touch()


def test_queues_without_cards_use_every_slot(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    folder, gate = tmp_path / "running", tmp_path / "gate"
    folder.mkdir()
    start("--app", "modelling", "--queue", "cpu", "--queue", "gpu", "--gpu", "none",
          "--slots", "3")  # fmt: skip
    where = {"folder": str(folder), "until": str(gate)}
    ids = [base.enqueue("together", {"name": f"{n}", **where}, queue="cpu") for n in range(3)]
    until(lambda: len(list(folder.iterdir())) == 3, "three at once")
    gate.touch()
    assert {base.ended(job_id)["status"] for job_id in ids} == {"completed"}
