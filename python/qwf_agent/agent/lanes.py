"""The slots of an agent: one for each card that it serves, and others without a card."""

from __future__ import annotations

import selectors
from collections.abc import Iterable

from qwf_agent.agent.options import SERVED_QUEUE, AgentOptions
from qwf_agent.agent.settings import Settings
from qwf_agent.agent.slot import Slot
from qwf_agent.child.setup import Limits, Setup
from qwf_agent.system.cgroup import ControlGroups
from qwf_agent.system.gpu import visible_devices
from qwf_agent.system.guardian import Guardian


def count(options: AgentOptions, cards: list[int]) -> int:
    """The number of slots, with and without a card; by default also one for each request that the
    model servers take at once."""
    if options.slots:
        return options.slots
    requests = sum(server.parallel for server in options.servers)
    if requests and options.queues == (SERVED_QUEUE,):
        return requests
    return requests + max(1, len(_cards(options, cards)))


def make_slots(
    options: AgentOptions,
    cards: list[int],
    settings: Settings,
    selector: selectors.BaseSelector,
    guardian: Guardian,
    groups: ControlGroups | None,
    there_are: int = 0,
    total: int | None = None,
) -> list[Slot]:
    """Make the slots of an agent on a box with these cards, in all `total` or those of the options;
    those with a card come first. `there_are` is how many of them there are already."""
    total = count(options, cards) if total is None else total
    recycle_jobs = recycle_after(options, settings)
    lanes = _cards(options, cards)[:total]
    kinds = [(True, card) for card in lanes] + [(False, None)] * (total - len(lanes))
    return [
        Slot(
            selector, guardian, setup(options, settings, card, guardian.mark), recycle_jobs, heavy,
            card, None if groups is None else groups.make(),
        )
        for heavy, card in kinds[there_are:]
    ]  # fmt: skip


def configure(slots: Iterable[Slot], options: AgentOptions, settings: Settings, mark: str) -> None:
    """Apply new settings to the slots; children that they affect are replaced."""
    for slot in slots:
        slot.configure(setup(options, settings, slot.card, mark), recycle_after(options, settings))


def recycle_after(options: AgentOptions, settings: Settings) -> int:
    """After how many jobs a child is replaced."""
    return 1 if options.fresh else options.recycle_jobs or settings.recycle_jobs


def setup(options: AgentOptions, settings: Settings, card: int | None, mark: str) -> Setup:
    """The setup of a child that uses this card, or those that --gpu names if it is None; `mark` is
    that of the guardian."""
    return Setup(
        options.host,
        options.app,
        options.nodes,
        options.allow_commands,
        visible_devices(options.gpu if card is None else str(card)),
        Limits(settings.max_value_bytes, settings.max_error_bytes, settings.max_log_bytes),
        options.max_rss,
        options.lanes and options.gpu != "none",
        settings.model_idle,
        options.reload,
        options.otel,
        mark,
    )


def _cards(options: AgentOptions, cards: list[int]) -> list[int | None]:
    """The card of each lane; None for a lane without a card."""
    if not options.lanes:
        return []
    if options.gpu == "none" or not cards:
        return [None]
    return list(cards)
