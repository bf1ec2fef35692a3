"""The databases that an agent serves: which of them are open, and which must not be."""

from __future__ import annotations

import logging
import selectors
from collections.abc import Callable, Iterator

from qwf_agent.agent.link import CONNECT_S
from qwf_agent.agent.opening import NotServed, StartAborted
from qwf_agent.agent.options import AgentOptions
from qwf_agent.agent.served_database import ServedDatabase
from qwf_agent.agent.settings import Settings
from qwf_agent.system.exit_codes import MISCONFIGURED, NO_DATABASE

log = logging.getLogger("qwf_agent")


class ServedDatabases:
    """All databases of an agent, in the order in which they were named.

    Invariant: no two that are open have the same number, and all agree on how many there can be: so
    ids of jobs and runs are unique in the agent and in its folders.
    """

    def __init__(
        self, options: AgentOptions, selector: selectors.BaseSelector,
        infos: Callable[[], dict[str, str]],
    ) -> None:  # fmt: skip
        self._databases = [
            ServedDatabase(address, options, selector, infos, self._accept)
            for address in options.addresses
        ]
        self._needs_all = options.until_empty
        self._queues = ", ".join(options.queues)
        self._begun = False
        self._first_at = float("inf")  # when the first one was open

    def __iter__(self) -> Iterator[ServedDatabase]:
        return iter(self._databases)

    @property
    def open(self) -> list[ServedDatabase]:
        """Those that are served."""
        return [database for database in self._databases if database.is_open]

    @property
    def settings(self) -> Settings:
        """The settings of what all databases share: those of the first one that is open."""
        return self.open[0].workers[0].settings

    def may_begin(self, now: float, give_up_at: float) -> bool:
        """True if the agent may begin to serve: a database is open, and the others have answered or
        seem to be down. With --until-empty, all have to be open. Raises StartAborted."""
        if self.open:
            self._first_at = min(self._first_at, now)
        settled = now >= min(self._first_at + CONNECT_S, give_up_at) or all(
            one.is_open or one.opening.refusal or one.opening.trouble for one in self
        )
        missing = [one for one in self if not one.is_open]
        if not missing or (self.open and settled and not self._needs_all):
            self._begun = True
            for database in missing:
                if not database.opening.refusal:
                    why = database.opening.trouble or "no answer"
                    log.warning("not serving %s yet: %s", database.name, why)
            return True
        if now >= give_up_at:
            codes = [database.opening.code for database in missing]
            code = NO_DATABASE if NO_DATABASE in codes else MISCONFIGURED
            raise StartAborted(code, self.trouble() or "no database")
        return False

    def trouble(self) -> str:
        """The things it waits for."""
        return "; ".join(
            f"{one.name}: {one.opening.trouble}" if one.name else one.opening.trouble
            for one in self
            if not one.is_open and one.opening.trouble
        )

    def open_more(self, now: float) -> list[ServedDatabase]:
        """Go on opening those that are not open; returns those that are now. Raises StartAborted
        before the agent has begun, if it cannot serve what it should."""
        opened = []
        for database in self._databases:
            if database.is_open:
                continue
            try:
                if database.opening.step(now):
                    opened.append(database)
            except NotServed as error:
                self._leave_out(database, error)
        for database in opened if self._begun else ():
            log.info("serving %s of %s, too", self._queues, database.name)
        return opened

    def open_no_more(self) -> None:
        """Open no other: the agent stops."""
        for database in self._databases:
            database.opening.stop()

    def report(self, now: float) -> None:
        """Report the jobs that have ended, handle the answers, and log what has failed."""
        for database in self.open:
            database.report(now)

    def tick(self, now: float) -> None:
        """Run the periodic chores of each database, unless another agent does."""
        for database in self.open:
            database.ticker.step(database.workers, now)

    def next_at(self) -> float:
        """When there is something to do, unless something happens first."""
        return min(database.next_at() for database in self._databases)

    def _accept(self, database: ServedDatabase, number: int, cells: int) -> None:
        """Note which cell a database is. Raises NotServed if it does not go with the others."""
        for other in self._databases:
            if other is database or other.number is None:
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
        database.number = (number, cells)

    def _leave_out(self, database: ServedDatabase, error: NotServed) -> None:
        """Log that a database is not served. At the start that is the end of an agent without
        another one, or that was told to serve two that exclude each other."""
        database.number = None
        known, database.opening.refusal = database.opening.refusal, str(error)
        database.opening.code = MISCONFIGURED
        why = f"not serving {database.name}: {error}" if database.name else str(error)
        alone = all(other.opening.refusal for other in self)
        if not self._begun and (alone or error.is_conflict or self._needs_all):
            raise StartAborted(MISCONFIGURED, why)
        if known != str(error):
            log.error("%s", why)
