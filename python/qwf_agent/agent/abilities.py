"""The abilities of an agent: the names of the user's tasks and models, and the cards of the box. A
short-lived child finds them, so the agent itself imports no user code and opens no driver."""

from __future__ import annotations

import json
import logging
import os
import select
import signal
import sys
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from qwf_agent import __version__
from qwf_agent.agent.lanes import count
from qwf_agent.agent.options import SERVED_QUEUE, AgentOptions
from qwf_agent.app.bodies import Shape
from qwf_agent.child.command import COMMAND
from qwf_agent.child.outcome import describe
from qwf_agent.child.tasks import IMPORT_S, CannotLoad, Tasks
from qwf_agent.llm.task import LLM
from qwf_agent.receivers.config import ALERTS_QUEUE, SEND
from qwf_agent.system import gpu

log = logging.getLogger("qwf_agent")

MOST_OPTIONS = 16384  # letters of JSON; register_worker() takes 64 KiB in all


class Abilities(NamedTuple):
    """Names of the tasks; models with the GPU memory that each needs, MiB; numbers of the cards;
    memory of the largest card, MiB, if known; why the models cannot use a card here, or None; the
    memory of each card of the box by its number, MiB, as far as known; the options that each task
    declares; the tasks whose bodies take more than one job, each with its Shape as a list; the ids
    of the cards that bodies and model servers use."""

    tasks: list[str] = []  # noqa: RUF012 - never changed
    models: dict[str, int] = {}  # noqa: RUF012 - never changed
    cards: list[int] = []  # noqa: RUF012 - never changed
    vram_mb: int | None = None
    no_card: str | None = None
    cards_mb: dict[str, int] = {}  # noqa: RUF012 - never changed
    task_options: dict[str, dict[str, str]] = {}  # noqa: RUF012 - never changed
    shapes: dict[str, list[Any]] = {}  # noqa: RUF012 - never changed
    card_ids: list[str] = []  # noqa: RUF012 - never changed

    def places(self) -> int:
        """How many jobs the body that takes most of them takes at once."""
        return max((Shape(*shape).jobs for shape in self.shapes.values()), default=1)


class ServedModels(NamedTuple):
    """The offer of the model servers of an agent: the models that can be had now, and the servers
    as register_worker() takes them."""

    models: list[str]
    servers: list[dict[str, Any]]


def find_abilities(options: AgentOptions) -> Abilities:
    """Find the tasks, models and cards. Raises CannotLoad with the import error."""
    if not (options.app or options.nodes or options.lanes or _servers_use_cards(options)):
        return Abilities()
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        _write_abilities(options, writer)
    os.close(writer)
    answer = _read_all(reader, time.monotonic() + IMPORT_S)
    os.close(reader)
    if answer is None:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if answer is None:
        raise CannotLoad(f"importing your code took more than {IMPORT_S:g} s")
    if not answer:
        raise CannotLoad(
            f"the process that imported your code died with exit code "
            f"{os.waitstatus_to_exitcode(status)}"
        )
    found = json.loads(answer)
    if "error" in found:
        raise CannotLoad(found["error"])
    abilities = Abilities(**found)
    if to_announce(abilities.task_options) != abilities.task_options:
        log.warning(
            "the options of all @app.task() take more than %s letters of JSON: qwf doctor cannot "
            "say which jobs lack them",
            MOST_OPTIONS,
        )
    return abilities._replace(task_options=to_announce(abilities.task_options))


def to_announce(task_options: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """The options of the tasks, or none if they would take too much of the registration."""
    return task_options if len(json.dumps(task_options)) <= MOST_OPTIONS else {}


def warn_of_unserved(task_options: dict[str, dict[str, str]], queues: tuple[str, ...]) -> None:
    """Log the tasks whose jobs go to a queue that this agent does not serve."""
    unserved: dict[str, list[str]] = {}
    for task, options in task_options.items():
        if (queue := options.get("queue")) is not None and queue not in queues:
            unserved.setdefault(queue, []).append(task)
    if unserved:
        log.warning(
            "this agent runs no job of %s: add %s, or serve %s with another agent",
            "; ".join(
                f"{', '.join(sorted(tasks))}, declared for queue {queue}"
                for queue, tasks in sorted(unserved.items())
            ),
            " ".join(f"--queue {queue}" for queue in sorted(unserved)),
            "it" if len(unserved) == 1 else "them",
        )


def registrations(
    options: AgentOptions, abilities: Abilities, served: ServedModels | None = None,
    withdrawn: Collection[tuple[str, str]] = (),
) -> dict[str, str]:  # fmt: skip
    """The registration of the worker of each queue, as JSON, without the tasks and models that are
    `withdrawn`. The one of the queue llm registers the model servers, if there are some; all have
    their models."""
    common = _registration(options, abilities, served, withdrawn)
    servers = {} if served is None else {"servers": served.servers}
    has = {f"receiver.{name}": "true" for name in options.receivers}
    more: dict[str, dict[str, Any]] = {
        SERVED_QUEUE: servers,
        ALERTS_QUEUE: {"labels": {**common["labels"], **has}, "project": None},
    }
    return {queue: json.dumps({**common, **more.get(queue, {})}) for queue in options.queues}


def _registration(
    options: AgentOptions, abilities: Abilities, served: ServedModels | None,
    withdrawn: Collection[tuple[str, str]],
) -> dict[str, Any]:  # fmt: skip
    vram_mb = options.vram_mb or abilities.vram_mb
    fitting = [
        name
        for name, needed in abilities.models.items()
        if (vram_mb is None or needed <= vram_mb) and ("model", name) not in withdrawn
    ]
    tasks = [name for name in abilities.tasks if ("task", name) not in withdrawn]
    models = fitting if abilities.models else None
    if served is not None:
        models = sorted({*fitting, *served.models})
    return {
        "pid": os.getpid(),
        "version": __version__,
        "slots": count(options, abilities.cards) * abilities.places(),
        "tasks": tasks + built_in_tasks(options),
        "task_options": abilities.task_options,
        "models": models,
        "vram_mb": vram_mb,
        "labels": dict(options.labels),
        "rank": options.rank,
        "project": options.project,
        "cards": abilities.card_ids,
        "follows_orders": True,
        "writes_begun": True,
    }


def built_in_tasks(options: AgentOptions) -> list[str]:
    """The tasks that need no code of the user."""
    commands = [COMMAND] if options.allow_commands else []
    models = [LLM] if options.servers else []
    return commands + models + ([SEND] if options.receivers else [])


def _write_abilities(options: AgentOptions, writer: int) -> NoReturn:
    """Write the abilities or the error to the pipe, and exit without running exit handlers."""
    try:
        os.dup2(2, 1)
        sys.path.insert(0, str(Path.cwd()))
        os.environ.update(gpu.visible_devices(options.gpu))
        try:
            tasks = Tasks(options.app, options.nodes)
            found = _find(options, tasks)._replace(
                task_options=tasks.declared_options(),
                shapes={name: list(shape) for name, shape in tasks.shapes().items()},
            )
            answer = json.dumps(found._asdict())
        except BaseException as error:
            answer = json.dumps({"error": _reason(error)})
        with os.fdopen(writer, "w") as pipe:
            pipe.write(answer)
    finally:
        os._exit(0)


def _find(options: AgentOptions, tasks: Tasks) -> Abilities:
    names, models, needs = tasks.names(), tasks.models(), tasks.model_needs()
    for_children = options.lanes and options.gpu != "none"
    if not for_children and not _servers_use_cards(options):
        return Abilities(names, needs)
    driver = gpu.find_driver()
    cards = driver() if driver else []
    sizes_mb = {str(card.number): gpu.vram_mb([card]) for card in cards}
    known_mb = {number: size for number, size in sizes_mb.items() if size is not None}
    ids = {card.uuid for card in cards if card.uuid and _servers_use(options, str(card.number))}
    if not for_children:
        size_mb = gpu.vram_mb(cards)
        return Abilities(names, needs, vram_mb=size_mb, cards_mb=known_mb, card_ids=sorted(ids))
    allowed = gpu.allowed_cards() if options.gpu in (None, "all") else {str(options.gpu)}
    cards = [card for card in cards if allowed is None or str(card.number) in allowed]
    wants_card = sorted(name for name, model in models.items() if model.device)
    no_card = _why_no_card(options, cards, wants_card[0]) if wants_card else None
    numbers = [card.number for card in cards]
    ids.update(gpu.ids_of(cards))
    return Abilities(
        names, needs, numbers, gpu.vram_mb(cards), no_card, known_mb, card_ids=sorted(ids)
    )


def _servers_use_cards(options: AgentOptions) -> bool:
    return any(not server.external and server.card != "none" for server in options.servers)


def _servers_use(options: AgentOptions, card: str) -> bool:
    return any(not one.external and one.card in ("all", card) for one in options.servers)


def _why_no_card(options: AgentOptions, cards: list[gpu.GpuCard], model: str) -> str | None:
    """Why the model cannot run here; None if it can. If the user's code imported torch, torch
    decides, else the driver."""
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "cuda"):
        try:
            found, why = bool(torch.cuda.is_available()), "torch finds no card"
        except Exception as error:  # of a driver that is not up yet
            why = f"torch.cuda.is_available(): {type(error).__name__}: {error}"
            found = False
    else:
        found, why = bool(cards), "no NVIDIA or ROCm driver reports a card"
    if found:
        return None
    which = "" if options.gpu in (None, "all") else f" {options.gpu}"
    return (
        f"no card{which} here for the model {model!r}: {why}. Give this process a card, "
        "or use --gpu none if its models run without one"
    )


def _reason(error: BaseException) -> str:
    return str(error) if isinstance(error, CannotLoad) else describe(error)


def _read_all(reader: int, deadline: float) -> bytes | None:
    data = b""
    while True:
        readable, _, _ = select.select([reader], [], [], max(0.0, deadline - time.monotonic()))
        if not readable:
            return None
        part = os.read(reader, 65536)
        if not part:
            return data
        data += part
