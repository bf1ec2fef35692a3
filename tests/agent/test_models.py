"""A model is loaded once and kept until another one replaces it or it is idle."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from qwf_agent.child.outcome import of_exception
from support.harness import DRIVER, Database, StartAgent, lines, run_agent, until

GPU = ("--app", "modelling", "--queue", "gpu", "--gpu", "none")


def draw(base: Database, model: str | None, **options: Any) -> dict[str, Any]:
    output: dict[str, Any] = base.ended(
        base.enqueue("draw", {}, queue="gpu", model=model, **options)
    )["output"]
    return output


def current(base: Database) -> str | None:
    model: str | None = base.one("select current_model from qwf.workers where stopped_at is null")
    return model


def test_jobs_share_a_model_until_another_replaces_it(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    journal = tmp_path / "journal"
    start(*GPU, JOURNAL=str(journal))
    assert [draw(base, "flux")["used"] for _ in range(3)] == [1, 2, 3]
    until(lambda: current(base) == "flux", "the heartbeat that says so")
    first = draw(base, "sdxl")
    assert (first["model"], first["used"]) == ("sdxl", 1)
    assert draw(base, None) == {"model": None, "pid": first["pid"]}
    assert draw(base, "sdxl")["used"] == 2
    assert lines(journal) == ["load flux", "unload flux", "load sdxl"]
    until(lambda: current(base) == "sdxl", "the heartbeat that says so")
    stats = base.one("select stats from qwf.workers")
    assert [held["model"] for held in stats["models"]] == ["sdxl"]
    assert stats["model_loads"] == 2


def test_swaps_that_were_not_needed_are_counted(base: Database, start: StartAgent) -> None:
    base.conn.execute("update qwf.settings set heartbeat = '0.2 s'")
    start(*GPU)
    for _ in range(3):
        draw(base, "flux")
    look = "select (stats ->> 'swaps_avoided')::int from qwf.workers"
    until(lambda: base.one(look) == 2, "two swaps avoided")


def test_a_heartbeat_says_for_how_long_a_model_is_loaded_and_idle(
    base: Database, start: StartAgent
) -> None:
    base.conn.execute("update qwf.settings set heartbeat = '0.2 s'")
    start(*GPU)
    draw(base, "flux")
    look = "select stats -> 'models' -> 0 from qwf.workers"
    until(lambda: (base.one(look) or {}).get("idle_s", 0) > 0.5, "a heartbeat without a job")
    held = base.one(look)
    assert held["warm_s"] >= held["idle_s"]
    draw(base, "flux")
    until(lambda: base.one(look)["idle_s"] < held["idle_s"], "the idle time to begin again")
    assert base.one(look)["warm_s"] > held["warm_s"]


def test_an_idle_model_is_unloaded(base: Database, start: StartAgent, tmp_path: Path) -> None:
    base.conn.execute("update qwf.settings set model_idle = '0.2 s'")
    journal = tmp_path / "journal"
    start(*GPU, JOURNAL=str(journal))
    pid = draw(base, "flux")["pid"]
    until(lambda: lines(journal) == ["load flux", "unload flux"], "the unloading")
    until(lambda: current(base) is None, "the heartbeat that says so")
    assert draw(base, "flux") == {"model": "flux", "used": 1, "pid": pid}


def test_a_failing_unloader_does_no_harm(base: Database, start: StartAgent) -> None:
    start(*GPU)
    assert draw(base, "clumsy")["used"] == 1
    assert draw(base, "sdxl")["used"] == 1


def test_a_model_that_cannot_be_loaded_is_a_loss_that_says_so(
    base: Database, start: StartAgent
) -> None:
    start(*GPU)
    job = base.ended(base.enqueue("draw", {}, queue="gpu", model="missing", max_losses=1))
    assert job["status"] == "failed"
    assert "model 'missing' could not be loaded" in job["last_error"]
    assert "weights.bin is not here" in job["last_error"]
    assert base.attempts(job["id"])[0]["reason"] == "model"
    assert draw(base, "flux")["used"] == 1


def accelerator(cards: Path) -> tuple[tuple[str, ...], dict[str, str]]:
    cards.write_text(json.dumps([[0, 0, 80 << 30]]))
    return (*GPU[:-1], "0"), {"FAKE_CARDS": str(cards), "PYTHONPATH": DRIVER}


@pytest.mark.parametrize(
    ("task", "args", "model"),
    [
        ("draw", {}, "greedy"),
        ("card_error", {"text": "HIP error: invalid device"}, None),
        ("card_error", {"text": "CUDA-capable device(s) is/are busy or unavailable"}, None),
    ],
)
def test_a_card_error_is_a_fault_of_the_host(
    base: Database, start: StartAgent, tmp_path: Path, task: str, args: Any, model: str | None
) -> None:
    options, environment = accelerator(tmp_path / "cards")
    start(*options, **environment)
    attempt = base.attempted(base.enqueue(task, args, queue="gpu", model=model))
    assert (attempt["outcome"], attempt["reason"]) == ("tempfail", "accelerator")


def test_a_child_whose_card_failed_runs_no_other_job(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """CUDA may refuse all further work of a process, and what a body had on the card stays there
    until the process ends."""
    options, environment = accelerator(tmp_path / "cards")
    agent = start(*options, **environment)
    before = draw(base, "flux")["pid"]
    with base.conn.transaction():
        failing = base.enqueue("card_error", {"text": "CUDA error: assert"}, queue="gpu")
        others = [base.enqueue("draw", {}, queue="gpu", light=light) for light in (False, True)]
    pids = [base.ended(job_id)["output"]["pid"] for job_id in others]
    assert base.attempts(failing)[0]["reason"] == "accelerator"
    assert before not in pids
    assert [len(base.attempts(job_id)) for job_id in others] == [1, 1]
    assert "died" not in agent.said()


def test_without_a_card_the_same_words_are_an_error(base: Database, start: StartAgent) -> None:
    start(*GPU)
    job_id = base.enqueue("card_error", {"text": "CUDA error: no kernel image"}, queue="gpu")
    assert base.attempted(job_id)["outcome"] == "error"


def test_words_in_a_source_line_are_not_a_card_error() -> None:
    def body() -> None:
        raise ValueError("a bad prompt")  # CUDA error: out of memory

    with pytest.raises(ValueError, match="prompt") as caught:
        body()
    outcome = of_exception(caught.value, 10_000, gpu=True)
    assert "# CUDA error" in (outcome.error or "")
    assert (outcome.outcome, outcome.detail) == ("error", {})


def test_the_model_dies_with_its_child(base: Database, start: StartAgent) -> None:
    start(*GPU)
    os.kill(draw(base, "flux")["pid"], signal.SIGKILL)
    until(lambda: current(base) is None, "the heartbeat that says so")
    assert draw(base, "flux")["used"] == 1


def test_only_models_that_fit_are_registered(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    cards = tmp_path / "cards"
    cards.write_text(json.dumps([[0, 0, 24 << 30]]))
    start(*GPU[:-1], "all", FAKE_CARDS=str(cards), PYTHONPATH=DRIVER)
    models = base.one("select models from qwf.workers")
    assert "flux" in models
    assert "sdxl" not in models, "it needs 40 GiB"


def test_an_implausible_memory_size_is_ignored(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """A card that shares the machine's memory reports 512 MB."""
    cards = tmp_path / "cards"
    cards.write_text(json.dumps([[0, 0, 512 << 20]]))
    start(*GPU[:-1], "all", FAKE_CARDS=str(cards), PYTHONPATH=DRIVER)
    row = base.conn.execute("select models, vram_mb from qwf.workers").fetchone()
    assert row is not None
    assert row["vram_mb"] is None
    assert "sdxl" in row["models"]


def test_a_second_agent_on_a_card_says_so(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    cards = tmp_path / "cards"
    cards.write_text(json.dumps([[0, 0, 24 << 30], [0, 0, 24 << 30]]))

    def agent(*options: str, box: str = "box") -> Any:
        return start(
            "--app", "modelling", "--queue", "gpu", *options, FAKE_CARDS=str(cards), FAKE_BOX=box,
            PYTHONPATH=DRIVER,
        )  # fmt: skip

    alone = [
        agent("--gpu", "0", "--queue", "cpu"), agent("--gpu", "1"), agent("--gpu", "none"),
        agent(box="other"),
    ]  # fmt: skip
    second = agent("--host", "container", "--gpu", "1", "--project", "beta")
    until(lambda: "another agent uses the same card" in second.said(), "the warning")
    assert "uses GPU-box-1, too" in second.said()
    until(lambda: base.one("select count(*) from qwf.workers") == 6, "all are registered")
    assert "the same card" not in "".join(one.said() for one in alone)
    found = base.one("select string_agg(says, ' ') from qwf.doctor('{models}')")
    assert found.startswith("card GPU-box-1 is used by several agents (container pid ")


@pytest.mark.parametrize("gpu", [(), ("--gpu", "all"), ("--gpu", "7")], ids=str)
def test_a_worker_that_cannot_see_its_card_refuses(
    base: Database, tmp_path: Path, gpu: tuple[str, ...]
) -> None:
    cards = tmp_path / "cards"
    cards.write_text(json.dumps([[0, 0, 80 << 30]] if gpu[-1:] == ("7",) else []))
    code, said = run_agent(
        tmp_path, "--app", "modelling", "--queue", "gpu", *gpu, QWF_DSN=base.dsn, NEEDS_CARD="1",
        FAKE_CARDS=str(cards), PYTHONPATH=DRIVER,
    )  # fmt: skip
    assert code == 77
    assert "no card" in said
    assert "flux" in said
    assert base.one("select count(*) from qwf.workers") == 0


@pytest.mark.parametrize(
    ("answer", "why"),
    [("False", "torch finds no card"), ("1 / 0", "is_available(): ZeroDivisionError")],
)
def test_a_torch_that_finds_no_card_or_fails_to_look_is_tried_again(
    base: Database, tmp_path: Path, answer: str, why: str
) -> None:
    """By a supervisor, which does not try again after the code for a wrong configuration."""
    (tmp_path / "torch.py").write_text(
        "import types\n"
        f"cuda = types.SimpleNamespace(is_available=lambda: {answer}, is_initialized=lambda: False)"
    )
    (tmp_path / "painting.py").write_text("import torch\nfrom modelling import app")
    code, said = run_agent(
        tmp_path, "--app", "painting", "--queue", "gpu", QWF_DSN=base.dsn, NEEDS_CARD="1"
    )
    assert (code, "Traceback" in said) == (77, False)
    assert said.startswith("refused: no card here for the model 'flux'")
    assert why in said


def test_with_gpu_none_it_does_not_refuse(base: Database, start: StartAgent) -> None:
    start(*GPU, NEEDS_CARD="1")
    assert draw(base, "flux")["used"] == 1


def test_loading_too_long_is_killed_and_does_not_count_as_the_bodys_time(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    base.conn.execute("update qwf.settings set model_load_grace = '4 s'")
    journal = tmp_path / "journal"
    start(*GPU, JOURNAL=str(journal))
    attempt = base.attempted(base.enqueue("draw", {}, queue="gpu", model="slow", timeout="0.1 s"))
    assert (attempt["outcome"], attempt["reason"]) == ("lost", "timeout")
    assert "model" in attempt["error"]


def request(base: Database, action: str, model: str | None) -> dict[str, Any]:
    """Make a request about a model and return its answer."""
    query = "select qwf.request_model('box', 'gpu', %s, %s)"
    number = base.one(query, model, action)
    look = "select * from qwf.model_requests where id = %s and answered_at is not null"
    found: dict[str, Any] = until(
        lambda: base.conn.execute(look, (number,)).fetchone(), "an answer"
    )
    return found


def test_an_operator_loads_and_unloads_models(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    journal = tmp_path / "journal"
    start(*GPU, "--host", "box", JOURNAL=str(journal))
    assert request(base, "load", "flux")["error"] is None
    until(lambda: current(base) == "flux", "the heartbeat that says so")
    assert draw(base, "flux")["used"] == 1
    assert request(base, "unload", None)["error"] is None
    assert request(base, "unload", "flux")["error"] is None, "it is unloaded already"
    assert lines(journal) == ["load flux", "unload flux"]
    assert "weights.bin" in request(base, "load", "missing")["error"]
    assert draw(base, "sdxl")["used"] == 1, "the child still works"


def test_a_request_waits_for_the_job_that_has_the_card(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    folder, gate = tmp_path / "running", tmp_path / "gate"
    folder.mkdir()
    start(*GPU, "--host", "box")
    args = {"folder": str(folder), "name": "job", "until": str(gate)}
    job_id = base.enqueue("together", args, queue="gpu")
    until((folder / "job").exists)
    number = base.one("select qwf.request_model('box', 'gpu', 'flux')")
    taken = "select taken_by is not null and answered_at is null from qwf.model_requests"
    until(lambda: base.one(taken), "the request to be taken")
    gate.touch()
    assert base.ended(job_id)["status"] == "completed"
    look = "select answered_at is not null from qwf.model_requests where id = %s"
    until(lambda: base.one(look, number), "an answer")


def test_a_worker_that_is_off_refuses_requests(base: Database, start: StartAgent) -> None:
    start(*GPU, "--host", "box")
    base.conn.execute("select qwf.worker_control('box', 'gpu', 'off', 'pause')")
    said = "the worker is switched off"
    until(lambda: request(base, "load", "flux")["error"] == said, "the order to arrive")


def test_the_worker_of_the_queue_answers(base: Database, start: StartAgent) -> None:
    start(
        "--app", "modelling", "--host", "box", "--queue", "cpu", "--queue", "gpu", "--gpu", "none"
    )
    for _ in range(3):
        assert request(base, "load", "flux")["error"] is None
