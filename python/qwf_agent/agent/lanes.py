"""Which slots an agent has: one for each card it serves, and others beside them."""

from __future__ import annotations

import os
import selectors
from collections.abc import Iterable

from qwf_agent.agent.options import Options
from qwf_agent.agent.settings import Settings
from qwf_agent.agent.slot import Slot
from qwf_agent.child.setup import Limits, Setup
from qwf_agent.system.cgroup import ControlGroups
from qwf_agent.system.guardian import Guardian

VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")


def count(options: Options, cards: list[int]) -> int:
    """How many bodies at once, in all."""
    return options.slots or max(1, len(_cards(options, cards)))


def make_slots(
    options: Options,
    cards: list[int],
    settings: Settings,
    selector: selectors.BaseSelector,
    guardian: Guardian,
    groups: ControlGroups | None,
) -> list[Slot]:
    """The slots of an agent on a box with these cards: those with a card first."""
    total = count(options, cards)
    recycle_jobs = recycle_after(options, settings)
    lanes = _cards(options, cards)[:total]
    return [
        Slot(
            selector, guardian, setup(options, settings, card, guardian.mark), recycle_jobs, heavy,
            card, None if groups is None else groups.make(),
        )
        for heavy, card in [(True, card) for card in lanes] + [(False, None)] * (total - len(lanes))
    ]  # fmt: skip


def configure(slots: Iterable[Slot], options: Options, settings: Settings, mark: str) -> None:
    """Have the slots go by new settings, with new children where it matters to those."""
    for slot in slots:
        slot.configure(setup(options, settings, slot.card, mark), recycle_after(options, settings))


def recycle_after(options: Options, settings: Settings) -> int:
    """After how many jobs a child is replaced."""
    return 1 if options.fresh else options.recycle_jobs or settings.recycle_jobs


def setup(options: Options, settings: Settings, card: int | None, mark: str) -> Setup:
    """What a child is told that has this card, or those that --gpu names; `mark` is the
    guardian's."""
    return Setup(
        options.host,
        options.app,
        options.nodes,
        options.out_root,
        options.allow_commands,
        visible_devices(options.gpu if card is None else str(card)),
        Limits(settings.max_value_bytes, settings.max_error_bytes, settings.max_log_bytes),
        options.max_rss,
        options.lanes and options.gpu != "none",
        settings.model_idle,
        options.reload,
        mark,
    )


def visible_devices(gpu: str | None) -> dict[str, str]:
    """What children are told about the cards: one, none, or nothing, which is all."""
    if gpu in (None, "all"):
        return {}
    return dict.fromkeys(VISIBLE, "" if gpu == "none" else str(gpu))


def allowed_cards() -> set[str] | None:
    """Numbers of the cards that whoever started this process lets it see; None: all."""
    given = next((os.environ[name] for name in VISIBLE if name in os.environ), None)
    numbers = None if given is None else {part.strip() for part in given.split(",")}
    return numbers if numbers is None or all(map(str.isdigit, numbers)) else None


def _cards(options: Options, cards: list[int]) -> list[int | None]:
    """The card of each lane; None for a lane without one of its own."""
    if not options.lanes:
        return []
    if options.gpu == "none" or not cards:
        return [None]
    return list(cards)
