"""One run: faults by the plan while there is work, then quiet, then the verdict of the oracle."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from support.chaos.faults import KINDS, Mend, Scene, Struck
from support.chaos.load import Client, Observer, Reader, clients, prepare
from support.chaos.oracle import Evidence, collect, judge
from support.chaos.place import PATIENCE_S, QUEUES, Place
from support.chaos.plan import GAP_S, Planned, plan
from support.harness import until

ALONE = ("server disk full", "backend stopped", "table locked")  # what a restart has to wait for
STOPPING = ("server restarted", "postmaster killed", "backend killed", "server disk full")
UNFINISHED = """
select (select count(*) from qwf.jobs where finished_at is null)
  + (select count(*) from qwf.runs where status not in ('completed', 'cancelled')) as n
"""


@dataclass
class Result:
    """Faults that struck, and what did not hold: by check, what is wrong."""

    seed: int
    seconds: float
    struck: Counter[str]
    broken: dict[str, list[str]]
    evidence: Evidence

    @property
    def held(self) -> bool:
        return not any(self.broken.values())


class Cure(threading.Thread):
    """Mends a fault in time, or sooner if it is told to. It has a thread of its own: what others
    ask may wait for this very fault, such as a lock."""

    def __init__(self, place: Place, struck: Struck, mend: Mend) -> None:
        super().__init__(daemon=True)
        self._place, self._struck, self._mend = place, struck, mend
        self._soon = threading.Event()

    def run(self) -> None:
        self._soon.wait(self._struck.lasts_s)
        try:
            self._mend()
        except Exception as error:
            self._place.wrong.append(f"cannot mend {self._struck.whom}: {error!r}")

    def now(self) -> None:
        self._soon.set()
        self.join()


@dataclass
class Drill:
    """Strikes by the plan. Invariant: a kind is under way at most once."""

    place: Place
    clients: list[Client]
    say: Callable[[str], None]
    struck: Counter[str] = field(default_factory=Counter)
    _cures: dict[str, Cure] = field(default_factory=dict)

    def go(self, faults: Iterator[Planned], until_s: float, most: int | None) -> None:
        """Strike until the time is over, or `most` faults have struck something."""
        while time.monotonic() < until_s and (most is None or self.struck.total() < most):
            planned = next(faults)
            self.place.over.wait(planned.gap_s)
            self.place.keep_agents()
            self._strike(planned)

    def mend_all(self) -> None:
        for kind in list(self._cures):
            self._mend(kind)

    def _strike(self, planned: Planned) -> None:
        for kind in (planned.kind, *(ALONE if planned.kind in STOPPING else ())):
            self._mend(kind)
        struck = KINDS[planned.kind](Scene(self.place, self.clients, planned.dice))
        self._tell(planned, struck)
        if struck is None:
            return
        self.struck[planned.kind] += 1
        if struck.mend is not None:
            self._cures[planned.kind] = Cure(self.place, struck, struck.mend)
            self._cures[planned.kind].start()

    def _mend(self, kind: str) -> None:
        if kind in self._cures:
            self._cures.pop(kind).now()

    def _tell(self, planned: Planned, struck: Struck | None) -> None:
        at = time.monotonic() - self.place.began
        whom = "nothing to hit" if struck is None else struck.whom
        self.say(f"{at:8.1f} s  {planned.number:>4}  {planned.kind:<20}  {whom}")


def possible(place: Place) -> list[str]:
    """The faults that this machine allows."""
    return [k for k in KINDS if k != "server disk full" or place.data_disk is not None]


def run(
    place: Place, *, seconds: float, seed: int, say: Callable[[str], None],
    kinds: Sequence[str] = (), most: int | None = None,
    gap_s: tuple[float, float] = GAP_S,
) -> Result:  # fmt: skip
    """Strike for so long, or so often; then let everything end, and judge."""
    prepare(place)
    place.start()
    asking = clients(place, seed)
    observer, reader = Observer(place), Reader(place)
    for thread in (*asking, observer, reader):
        thread.start()
    until(lambda: place.ask("select 1 from qwf.job_attempts limit 1"), "the first end of a job")
    drill = Drill(place, asking, say)
    began = time.monotonic()
    drill.go(plan(seed, kinds or possible(place), gap_s), began + seconds, most)
    drill.mend_all()
    say(f"{time.monotonic() - place.began:8.1f} s  {'':>4}  the faults are over")
    _settle(place, asking)
    seconds = time.monotonic() - began
    place.over.set()
    for client in (*asking, reader):
        client.proxy.cut()
    for thread in (*asking, observer, reader):
        thread.join(PATIENCE_S)
        if thread.is_alive():
            place.wrong.append(f"{thread.name} is stuck")
    place.stop_agents()
    evidence = collect(place, observer.looks, reader.read)
    return Result(seed, seconds, drill.struck, judge(evidence), evidence)


def _settle(place: Place, asking: list[Client]) -> None:
    """Let all work end, with the help of the person."""
    for client in asking:
        client.quiet.set()
    place.ask("select qwf.enable_schedule('beat', false)")
    for host, queue in QUEUES:  # an agent switches itself off if many of its bodies crash
        place.ask("select qwf.worker_control(%s, %s, 'on')", host, queue)
    deadline = time.monotonic() + PATIENCE_S
    while (left := place.ask(UNFINISHED)[0]["n"]) and time.monotonic() < deadline:
        place.keep_agents()
        place.resume_tasks()
        time.sleep(0.2)
    if left:
        place.wrong.append(f"{left} jobs and runs have not ended after {PATIENCE_S:.0f} s of quiet")
