"""Agents with model servers: llama.cpp's own, with a model of random weights."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.harness import PACKAGE, Agent, Database, StartAgent, agents
from support.kept import Database as Kept
from support.kept_fixtures import connect, db, dsn
from support.llama import COMMAND, tiny_model
from support.stepped import Driver

__all__ = ["connect", "db", "dsn"]

USER = Path(__file__).resolve().parent / "user"
Configure = Callable[..., None]


@pytest.fixture(scope="session")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a tiny model."""
    return tiny_model(tmp_path_factory.mktemp("model") / "tiny.gguf")


@pytest.fixture
def base(kept: Kept, dsn: str) -> Database:
    """A database that is as new, whose agents say often what their servers do."""
    database = Database(dsn, kept.connect())
    database.conn.execute("update qwf.settings set heartbeat = '0.2 s'")
    return database


def toml(value: object) -> str:
    """A value as qwf.toml has it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + "}"
    return json.dumps(value)


@pytest.fixture
def configure(tmp_path: Path, weights: Path) -> Configure:
    """Writes a table [[server]] into the qwf.toml of the test's agents, or into another file."""

    def write(
        name: str = "llama", models: tuple[str, ...] = ("tiny",), path: Path | None = weights,
        command: tuple[str, ...] = COMMAND, vram_gb: float | None = None,
        file: str = "qwf.toml", **keys: Any,
    ) -> None:  # fmt: skip
        keys = {"name": name, "parallel": 4, **keys}
        if "url" not in keys:
            keys["command"] = list(command)
        lines = ["[[server]]", *(f"{key} = {toml(value)}" for key, value in keys.items())]
        for model in models:
            lines.append(f"[server.models.{json.dumps(model)}]")
            if any("{path}" in word for word in keys.get("command", ())):
                lines.append(f"path = {json.dumps(str(path))}")
            if vram_gb is not None:
                lines.append(f"vram_gb = {vram_gb}")
        with (tmp_path / file).open("a") as config:
            config.write("\n".join(lines) + "\n")

    return write


@pytest.fixture
def start(dsn: str, tmp_path: Path) -> Iterator[StartAgent]:
    """Starts agents that serve the queue llm of the box `box`."""
    with agents(dsn, tmp_path) as started:

        def serve(*options: str, **environment: str) -> Agent:
            path = os.pathsep.join(map(str, (PACKAGE, USER)))
            app = () if "--app" in options else ("--app", "prompts")
            return started(*app, "--queue", "llm", "--host", "box", *options,
                           **{"PYTHONPATH": path, **environment})  # fmt: skip

        yield serve


@pytest.fixture
def drive(tmp_path: Path) -> Iterator[Callable[..., Driver]]:
    """Makes servers that obey the files in `tmp_path`."""
    made = []

    def make(hurry: float = 1.0, **keys: Any) -> Driver:
        made.append(Driver(tmp_path, hurry, **keys))
        return made[-1]

    yield make
    for one in made:
        one.close()
