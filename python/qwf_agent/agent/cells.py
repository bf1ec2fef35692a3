"""The databases that an agent serves: which of them are open, and which must not be."""

from __future__ import annotations

import logging
import selectors
from collections.abc import Callable, Iterator

from qwf_agent.agent.cell import Cell
from qwf_agent.agent.link import CONNECT_S
from qwf_agent.agent.opening import NotServed, StartAborted
from qwf_agent.agent.options import Options
from qwf_agent.agent.settings import Settings
from qwf_agent.exit_codes import MISCONFIGURED, NO_DATABASE

log = logging.getLogger("qwf_agent")


class Cells:
    """All cells of an agent, in the order in which they were named.

    Invariant: no two that are open have the same number, and all agree on how many there can be: so
    ids of jobs and runs are unique in the agent and in its folders.
    """

    def __init__(
        self, options: Options, selector: selectors.BaseSelector,
        infos: Callable[[], dict[str, str]],
    ) -> None:  # fmt: skip
        self._cells = [
            Cell(address, options, selector, infos, self._accept) for address in options.addresses
        ]
        self._needs_all = options.until_empty
        self._queues = ", ".join(options.queues)
        self._begun = False
        self._first_at = float("inf")  # when the first one was open

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._cells)

    @property
    def open(self) -> list[Cell]:
        """Those that are served."""
        return [cell for cell in self._cells if cell.is_open]

    @property
    def settings(self) -> Settings:
        """The settings of what all cells share: those of the first one that is open."""
        return self.open[0].workers[0].settings

    def may_begin(self, now: float, give_up_at: float) -> bool:
        """Whether the agent may begin to serve: a cell is open, and the others have answered or
        seem to be down. With --until-empty, all have to be open. Raises StartAborted."""
        if self.open:
            self._first_at = min(self._first_at, now)
        settled = now >= min(self._first_at + CONNECT_S, give_up_at) or all(
            cell.is_open or cell.opening.refusal or cell.opening.trouble for cell in self
        )
        missing = [cell for cell in self if not cell.is_open]
        if not missing or (self.open and settled and not self._needs_all):
            self._begun = True
            for cell in missing:
                if not cell.opening.refusal:
                    why = cell.opening.trouble or "no answer"
                    log.warning("not serving %s yet: %s", cell.name, why)
            return True
        if now >= give_up_at:
            codes = [cell.opening.code for cell in missing]
            code = NO_DATABASE if NO_DATABASE in codes else MISCONFIGURED
            raise StartAborted(code, self.trouble() or "no database")
        return False

    def trouble(self) -> str:
        """What it waits for."""
        return "; ".join(
            f"{cell.name}: {cell.opening.trouble}" if cell.name else cell.opening.trouble
            for cell in self
            if not cell.is_open and cell.opening.trouble
        )

    def open_more(self, now: float) -> list[Cell]:
        """Go on opening those that are not open; returns those that are now. Raises StartAborted
        before the agent has begun, if it cannot serve what it should."""
        opened = []
        for cell in self._cells:
            if cell.is_open:
                continue
            try:
                if cell.opening.step(now):
                    opened.append(cell)
            except NotServed as error:
                self._leave_out(cell, error)
        for cell in opened if self._begun else ():
            log.info("serving %s of %s, too", self._queues, cell.name)
        return opened

    def open_no_more(self) -> None:
        """Open no other: the agent stops."""
        for cell in self._cells:
            cell.opening.stop()

    def report(self, now: float) -> None:
        """Report the jobs that have ended, handle the answers, and log what has failed."""
        for cell in self.open:
            cell.report(now)

    def tick(self, now: float) -> None:
        """Run the periodic chores of each database, unless another agent does."""
        for cell in self.open:
            cell.ticker.step(cell.workers, now)

    def next_at(self) -> float:
        """When there is something to do, unless something happens first."""
        return min(cell.next_at() for cell in self._cells)

    def _accept(self, cell: Cell, number: int, cells: int) -> None:
        """Note which cell a database is. Raises NotServed if it does not go with the others."""
        for other in self._cells:
            if other is cell or other.number is None:
                continue
            if other.number == (number, cells):
                raise NotServed(
                    f"{other.name} is cell {number} of {cells}, too: name each database once, and "
                    "give each a number of its own: qwf migrate deploy --cell",
                    is_conflict=True,
                )
            if other.number[1] != cells:
                raise NotServed(
                    f"it is cell {number} of {cells}, and {other.name} is one of "
                    f"{other.number[1]}: they are no cells of one system; serve them with two "
                    "agents",
                    is_conflict=True,
                )
        cell.number = (number, cells)

    def _leave_out(self, cell: Cell, error: NotServed) -> None:
        """Log that a cell is not served. At the start that is the end of an agent without another
        cell, or that was told to serve two that exclude each other."""
        cell.number = None
        known, cell.opening.refusal = cell.opening.refusal, str(error)
        cell.opening.code = MISCONFIGURED
        why = f"not serving {cell.name}: {error}" if cell.name else str(error)
        alone = all(other.opening.refusal for other in self)
        if not self._begun and (alone or error.is_conflict or self._needs_all):
            raise StartAborted(MISCONFIGURED, why)
        if known != str(error):
            log.error("%s", why)
