"""Model servers that hold memory of a real card: `transformers serve` with models of random weights
that are made on the spot, 4 GB each. QWF_TRANSFORMERS names a Python that has it, else this one is
tried.
QWF_GPU_CHECK=cpu runs the same on a processor with tiny models, and leaves out what needs a card.
The figures that they print (-s) belong in docs/gpu.md."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from qwf_agent.system import gpu
from qwf_agent.system.processes import descendants
from support import harness
from support.card import freed, used
from support.harness import DRIVER, TESTS, Agent, Database, alive, until
from support.served import server, state

PYTHON = os.environ.get("QWF_TRANSFORMERS", sys.executable)
ON_CARD = os.environ.get("QWF_GPU_CHECK") != "cpu"
NEEDED = "import torch, accelerate, fastapi, openai, uvicorn, transformers.cli.transformers"
# Each a hidden size, layers, heads and a type: 2 billion weights of 2 bytes, or a few for a test.
SHAPE = ("4096", "12", "32", "bfloat16") if ON_CARD else ("256", "2", "4", "float32")
WEIGHTS_BYTES = 4 * 10**9
MODELS = ("random/first", "random/second")
# The engine is a process below that of the server, as it is with vLLM.
COMMAND = (
    "sh", "-c", '"$@" & wait $!', "serve", PYTHON, "-m", "transformers.cli.transformers", "serve",
    "{model}", "--host", "127.0.0.1", "--port", "{port}", "--device", "cuda" if ON_CARD else "cpu",
)  # fmt: skip
Serve = Callable[..., Agent]


@pytest.fixture(autouse=True, scope="session")
def driver() -> gpu.Driver | None:
    """The card; None if the tests run without one."""
    found = gpu.find_driver() if ON_CARD else None
    if ON_CARD and found is None:
        pytest.skip("no NVIDIA card here: neither nvidia-ml-py nor nvidia-smi finds one")
    done = subprocess.run([PYTHON, "-c", NEEDED], capture_output=True, text=True, check=False)
    if done.returncode:
        why = done.stderr.strip().rpartition("\n")[2]
        pytest.skip(f"{PYTHON}: {why}: pip install 'transformers[serving]' accelerate")
    return found


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """It reads 4 GB when it starts."""
    monkeypatch.setattr(harness, "DEADLINE_S", 300.0)


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of Hugging Face with the models: transformers lists only what is in its cache."""
    folder = tmp_path_factory.mktemp("cache")
    weights = folder / "weights"
    words = [PYTHON, TESTS / "support" / "random_llama.py", weights, *SHAPE]
    subprocess.run(words, check=True)
    for model in MODELS:
        repository = folder / f"models--{model.replace('/', '--')}"
        (repository / "refs").mkdir(parents=True)
        (repository / "refs" / "main").write_text("0" * 40)
        snapshot = repository / "snapshots" / ("0" * 40)
        snapshot.mkdir(parents=True)
        for file in weights.iterdir():
            (snapshot / file.name).hardlink_to(file)
    return folder


@pytest.fixture
def base(base: Database) -> Database:
    base.conn.execute("update qwf.settings set heartbeat = '0.2 s', metrics = '0.5 s'")
    return base


@pytest.fixture
def serve(dsn: str, tmp_path: Path, cache: Path, driver: gpu.Driver | None) -> Iterator[Serve]:
    """Starts an agent with a server for each model on card 0. Without a card it sees a simulated
    one of 80 GiB, so that it decides the same."""
    total = driver()[0].total_bytes if driver else 80 << 30
    with harness.agents(dsn, tmp_path) as started:

        def start(share_of_card: float = 0.1) -> Agent:
            (tmp_path / "cards").write_text(json.dumps([[0, 0, total]]))
            toml = [_table(model, share_of_card * total / (1 << 30)) for model in MODELS]
            (tmp_path / "qwf.toml").write_text("".join(toml))
            environment = {"HF_HUB_CACHE": str(cache), "HF_HUB_OFFLINE": "1"}
            if driver is None:
                environment |= {"PYTHONPATH": DRIVER, "FAKE_CARDS": str(tmp_path / "cards"),
                                "OMP_NUM_THREADS": "1"}  # fmt: skip
            return started("--queue", "llm", "--host", "box", **environment)

        yield start


def name_of(model: str) -> str:
    """The name of its server."""
    return model.rpartition("/")[2]


def _table(model: str, vram_gb: float) -> str:
    return (
        f'[[server]]\nname = "{name_of(model)}"\ncommand = {json.dumps(COMMAND)}\ncard = 0\n'
        f"[server.models.{json.dumps(model)}]\nvram_gb = {vram_gb:.3f}\n"
    )


def ask(base: Database, model: str = MODELS[0]) -> dict[str, Any]:
    """Output of a job that asks the model."""
    args = {"prompt": "Say something.", "max_tokens": 16}
    job: dict[str, Any] = base.ended(base.enqueue("llm", args, queue="llm", model=model))
    assert job["status"] == "completed", base.attempts(job["id"])
    return job


def holds(driver: gpu.Driver | None, baseline: int) -> None:
    """Check that the weights are on the card."""
    print(f"{(used(driver) - baseline) / 1e9:.2f} GB of the card in use")
    assert driver is None or used(driver) > baseline + WEIGHTS_BYTES


def test_off_frees_the_card_within_two_seconds(
    base: Database, serve: Serve, driver: gpu.Driver | None, baseline: int
) -> None:
    serve()
    ask(base)
    found = state(base, "ready", "first")
    print(f"ready {found['load_s']} s after its start")
    holds(driver, baseline)
    pids = [found["pid"], *descendants(found["pid"])]
    base.conn.execute("select qwf.worker_control('box', 'llm', 'off')")
    seconds = freed(driver, baseline)
    print(f"back at the baseline {seconds:.2f} s after the order")
    assert seconds < 2 or driver is None
    until(lambda: not any(map(alive, pids)), "the end of its processes")


@pytest.mark.parametrize("victim", ["server", "engine", "agent"])
def test_what_is_killed_leaves_nothing_on_the_card(
    base: Database, serve: Serve, driver: gpu.Driver | None, baseline: int, victim: str
) -> None:
    agent = serve()
    ask(base)
    holds(driver, baseline)
    pid = state(base, "ready", "first")["pid"]
    (engine,) = descendants(pid)
    os.kill({"server": pid, "engine": engine, "agent": agent.pid}[victim], signal.SIGKILL)
    print(f"back at the baseline {freed(driver, baseline):.2f} s after the kill of the {victim}")
    until(lambda: not alive(pid) and not alive(engine), "the end of its processes")
    if victim != "agent":
        ask(base)
        until(lambda: server(base, "first")["starts"] == 2, "its second start")


def test_two_models_that_do_not_fit_together_take_turns(
    base: Database, serve: Serve, driver: gpu.Driver | None, baseline: int
) -> None:
    agent = serve(share_of_card=0.6)
    for turn, model in enumerate(MODELS * 2):
        ask(base, model)
        holds(driver, baseline)
        assert driver is None or used(driver) < baseline + 2 * WEIGHTS_BYTES
        state(base, "off", name_of(MODELS[1 - turn % 2]))
        load_s = server(base, name_of(model))["load_s"]
        print(f"turn {turn}: {model} was ready {load_s} s after its start")
    assert [server(base, name)["crashes"] for name in ("first", "second")] == [0, 0]
    assert "out of memory" not in agent.said().lower()


def test_telemetry_shows_what_a_server_holds(
    base: Database, serve: Serve, driver: gpu.Driver | None, baseline: int
) -> None:
    serve()
    ask(base)
    share = "select vram_mb from qwf.server_overview where server = 'first' and host = 'box'"
    estimate = until(lambda: base.one(share), "the estimate")
    look = "select gpus -> 0 from qwf.host_metrics order by sampled_at desc limit 1"
    seen = until(lambda: base.one(look), "a reading of the card")
    print(f"the server is to hold {estimate} MiB, the card has {seen['vram_used_mb']} MiB in use")
    assert abs(estimate - 0.1 * seen["vram_total_mb"]) < 8
    if driver is not None:
        least = (baseline + WEIGHTS_BYTES) >> 20
        until(lambda: base.one(look)["vram_used_mb"] > least, "the weights in the telemetry")
