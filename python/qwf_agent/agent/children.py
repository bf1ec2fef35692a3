"""The children of an agent: forks them, makes their slots, and replaces those with old code."""

from __future__ import annotations

import logging
import selectors
import time
from typing import Any

from qwf_agent.agent.abilities import Abilities, registrations, to_announce
from qwf_agent.agent.child_news import Announcement
from qwf_agent.agent.lanes import configure, count, make_slots
from qwf_agent.agent.new_code import NewCode
from qwf_agent.agent.options import AgentOptions
from qwf_agent.agent.pool import Pool
from qwf_agent.agent.serving import Serving
from qwf_agent.agent.settings import Settings
from qwf_agent.agent.slot import Slot
from qwf_agent.system.cgroup import ControlGroups
from qwf_agent.system.guardian import Guardian

log = logging.getLogger("qwf_agent")

WITHDRAWN_S = 300.0  # no jobs of a task that cannot be imported, or of a model that cannot load


class Children:
    """The things that all children share: the code of the tasks, and how they are set up.

    Invariant: `infos`, which the worker of each queue registers, says what new children can run.
    """

    def __init__(
        self, options: AgentOptions, abilities: Abilities, slots: Pool, serving: Serving,
        selector: selectors.BaseSelector, guardian: Guardian, groups: ControlGroups | None,
    ) -> None:  # fmt: skip
        self.abilities = abilities
        self.new_code = NewCode(options)
        self._options = options
        self._slots = slots
        self._serving = serving
        self._selector = selector
        self._guardian = guardian
        self._groups = groups
        # By kind and name of a task or model: why its jobs fail here, and until when to take none.
        self._withdrawn: dict[tuple[str, str], tuple[str, float]] = {}
        self.infos = registrations(options, abilities, serving.served())
        slots.shapes.change(abilities.shapes)

    def step(self, now: float) -> bool:
        """Replace all children, once new code can be imported, and offer again what was withdrawn
        long enough ago. Returns whether there is new code."""
        has_new_code = self.new_code.step(now)
        for slot in self._slots if has_new_code else ():
            slot.retire()
        over = [key for key, (_, until) in self._withdrawn.items() if has_new_code or now >= until]
        for key in over:
            del self._withdrawn[key]
        if over:
            self.change_infos()
        return has_new_code

    def withdraw(self, kind: str, name: str, error: str) -> bool:
        """Offer this task or model no more for a while; returns False if that is so already."""
        is_new = (kind, name) not in self._withdrawn
        self._withdrawn[kind, name] = (error, time.monotonic() + WITHDRAWN_S)
        if is_new:
            self.change_infos()
        return is_new

    def stats(self) -> dict[str, Any]:
        """The part of a heartbeat about them."""
        why = {f"{kind} {name}": error for (kind, name), (error, _) in self._withdrawn.items()}
        return {**self.new_code.stats(), **({"withdrawn": why} if why else {})}

    def code_has_changed(self) -> None:
        """A file that a child has imported has changed: see whether the new one can be imported."""
        log.info("the code of the tasks has changed: it is imported, then children follow")
        self.new_code.try_soon()

    def take_announcement(self, slot: Slot, found: Announcement) -> None:
        """Take in what the new child of a slot has found. If it differs from what is known,
        register it and replace the other children."""
        changed = self.abilities._replace(
            tasks=found.tasks, models=found.models, shapes=found.shapes,
            task_options=to_announce(found.task_options),
        )  # fmt: skip
        if changed == self.abilities:
            return
        for other in self._slots:
            if other is not slot:
                other.retire()
        self.abilities = self._serving.abilities = changed
        self._slots.shapes.change(changed.shapes)
        log.info("the code of the tasks has changed: now %s", ", ".join(found.tasks) or "no tasks")
        self.change_infos()

    def change_infos(self) -> None:
        """Make the registrations of the workers again, from the present abilities."""
        self.infos = registrations(
            self._options, self.abilities, self._serving.served(), self._withdrawn.keys()
        )

    def fork(self, slot: Slot, now: float) -> None:
        """Fork a child for the slot if it needs one."""
        try:
            slot.spawn(now)
        except OSError as error:
            log.error("cannot fork a child: %s", error)

    def configure(self, settings: Settings) -> None:
        """Apply the settings that the slots share; children that they affect are replaced."""
        configure(self._slots, self._options, settings, self._guardian.mark)

    def add_slots(self, settings: Settings) -> None:
        """Make the slots at the start, and more when an operator lets the model servers take more
        requests at once."""
        have, total = len(self._slots.slots), count(self._options, self.abilities.cards)
        if self._options.slots is None:
            total += self._serving.more_requests()
        if have < total:
            self._slots.slots += make_slots(
                self._options, self.abilities.cards, settings, self._selector, self._guardian,
                self._groups, have, total,
            )  # fmt: skip
