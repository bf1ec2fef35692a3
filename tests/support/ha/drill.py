"""The faults of a cluster, one a round, under work; and what is true at the end.

A round strikes, waits until work ends again, mends, and waits until two standbys are synchronous.
"""

from __future__ import annotations

import itertools
import random
import signal
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psycopg

from support.ha.cluster import PATIENCE_S, Cluster, until
from support.ha.fleet import Fleet
from support.ha.network import DATABASES, FRONT, send
from support.notes import read

TTL_S = 10.0  # of patroni.yml
FLOWS = 10  # ends that show that work flows again
SETTLE_S = (1.0, 4.0)  # between two rounds, so that faults do not meet the same moment of a loop
ENDS = """
select extract(epoch from finished_at)::float8 as at from qwf.job_attempts
where outcome = 'completed' and finished_at > to_timestamp(%s) order by finished_at
"""


@dataclass(frozen=True)
class Round:
    """A fault and what it cost. `pause_s` is the longest time without a recorded end."""

    number: int
    kind: str
    struck: str
    led_by: str
    pause_s: float
    healthy_s: float

    def __str__(self) -> str:
        moved = "stays" if self.struck == self.led_by else f"-> {self.led_by}"
        return (
            f"{self.number:>3}  {self.kind:<10}  {self.struck} {moved:<7}  "
            f"{self.pause_s:5.1f} s  {self.healthy_s:6.1f} s"
        )


class Drill:
    """Strikes a cluster that has work, round after round."""

    def __init__(self, cluster: Cluster, fleet: Fleet) -> None:
        self.cluster, self.fleet = cluster, fleet
        self.rounds: list[Round] = []
        self._beside: dict[str, subprocess.Popen[bytes]] = {}  # producers on the leader's node
        self._dice = random.Random(7)
        self._faults: dict[str, Callable[[str], Callable[[], None]]] = {
            "crash": self._crash,
            "cut": self._cut,
            "pause": self._pause,
            "switchover": self._switchover,
            "postmaster": self._postmaster,
            "pooler": self._pooler,
            "etcd": self._etcd,
            "standby": self._standby,
        }

    @property
    def kinds(self) -> list[str]:
        return list(self._faults)

    def strike(self, kind: str) -> Round:
        """One round."""
        time.sleep(self._dice.uniform(*SETTLE_S))
        leader = self.cluster.leader()
        began = time.time()
        mend = self._faults[kind](leader)
        self._until_work_ends(time.time())
        mend()
        pause_s = self._longest_pause(began)
        self.cluster.until_healthy()
        led_by = self.cluster.leader()
        for producer in self._beside.values():
            producer.kill()
            producer.wait()
        one = Round(len(self.rounds), kind, leader, led_by, pause_s, time.time() - began)
        self.rounds.append(one)
        return one

    def _crash(self, leader: str) -> Callable[[], None]:
        """kill -9 of Patroni and Postgres of the leader."""
        self.cluster.crash(leader)
        return lambda: self.cluster.start_patroni(leader)

    def _postmaster(self, leader: str) -> Callable[[], None]:
        """kill -9 of the postmaster alone: Patroni starts it again in place."""
        send([self.cluster.postmaster(leader)], signal.SIGKILL)
        return lambda: None

    def _switchover(self, leader: str) -> Callable[[], None]:
        self.cluster.switchover(leader)
        return lambda: None

    def _cut(self, leader: str) -> Callable[[], None]:
        """The cable of the leader, with a producer on the leader's side."""
        self.cluster.network.cut(leader)
        self._produce_beside(leader)
        return lambda: self.cluster.network.mend(leader)

    def _pause(self, leader: str) -> Callable[[], None]:
        """All processes of the node stop, and go on when another one leads."""
        stopped = self.cluster.network.pids(leader)
        send(stopped, signal.SIGSTOP)
        self._produce_beside(leader)
        return lambda: send(stopped, signal.SIGCONT)

    def _pooler(self, leader: str) -> Callable[[], None]:
        """PgBouncer is killed and started again: everybody loses the connection."""
        self.cluster.kill(FRONT, "pgbouncer")
        self.cluster.start_pooler()
        return lambda: None

    def _etcd(self, leader: str) -> Callable[[], None]:
        """The leader's own etcd: two of three go on."""
        self.cluster.kill(leader, "etcd")
        return lambda: self.cluster.start_etcd(leader)

    def _standby(self, leader: str) -> Callable[[], None]:
        """The cable of a standby: commits wait for it until Patroni takes it out of the list."""
        standby = next(box for box in DATABASES if box != leader)
        self.cluster.network.cut(standby)
        return lambda: self.cluster.network.mend(standby)

    def _produce_beside(self, leader: str) -> None:
        """A producer that reaches only this node, until the round ends. Nothing that it asks may be
        acknowledged: the node has no standby that could have it."""
        name = f"beside-{len(self.rounds)}"
        dsn = f"postgresql://app@{DATABASES[leader]}:5432/qwf"
        self._beside[name] = self.fleet.produce(leader, dsn, name)

    def _until_work_ends(self, since: float) -> None:
        until(lambda: len(self._ends(since)) >= FLOWS, "work that ends", PATIENCE_S)

    def _longest_pause(self, since: float) -> float:
        ends = [since, *until(lambda: self._ends(since), "the leader")]
        return max(later - earlier for earlier, later in itertools.pairwise(ends))

    def _ends(self, since: float) -> list[float]:
        try:
            with self.cluster.superuser() as conn:
                return [row["at"] for row in conn.execute(ENDS, (since,)).fetchall()]
        except psycopg.Error:
            return []


@dataclass(frozen=True)
class Verdict:
    """State at the end, by the notes of producers and bodies and by the database."""

    acknowledged: int
    missing: list[str]  # keys
    beside: list[str]  # keys that an isolated leader acknowledged
    unfinished: list[int]
    completed_twice: list[int]
    lapsed: list[int]  # jobs that ran again though their agent lived
    forgotten: list[int]  # jobs that ran again because their claim was forgotten
    attempts: dict[str, int]
    broken: list[dict[str, Any]]  # invariants

    def __str__(self) -> str:
        lists = {name: found for name, found in vars(self).items() if isinstance(found, list)}
        counted = ", ".join(f"{len(found)} {name}" for name, found in lists.items())
        return f"{self.acknowledged} acknowledged, {counted}; attempts {self.attempts}"


def judge(drill: Drill) -> Verdict:
    """Let all work end, and compare."""
    drill.fleet.stop_producers()
    acknowledged = drill.fleet.acknowledged()

    def ended() -> bool:
        query = "select count(*) n from qwf.jobs where finished_at is null"
        with drill.cluster.superuser() as conn:
            return conn.execute(query).fetchone() == {"n": 0}

    until(ended, "the end of all work")
    drill.fleet.stop()
    with drill.cluster.superuser() as conn:
        jobs = {row["id"]: row for row in conn.execute("select id, key, status from qwf.jobs")}
        query = "select job_id, attempt, outcome from qwf.job_attempts"
        attempts = conn.execute(query).fetchall()
        broken = [dict(row) for row in conn.execute("select * from qwf.check_invariants()")]
    completed = Counter(a["job_id"] for a in attempts if a["outcome"] == "completed")
    lapsed, forgotten = _ran_again(drill.fleet)
    return Verdict(
        acknowledged=len(acknowledged),
        missing=[a["key"] for a in acknowledged if jobs.get(a["job"], {}).get("key") != a["key"]],
        beside=[a["key"] for a in acknowledged if a["key"].startswith("beside-")],
        unfinished=[job for job, row in jobs.items() if row["status"] != "completed"],
        completed_twice=[job for job, count in completed.items() if count > 1],
        lapsed=lapsed,
        forgotten=forgotten,
        attempts=dict(Counter(a["outcome"] for a in attempts)),
        broken=broken,
    )


def _ran_again(fleet: Fleet) -> tuple[list[int], list[int]]:
    """Jobs whose body began more than once. The number of an attempt that was forgotten with its
    claim is given out again; a lease that lapsed has used its number."""
    begun: dict[int, list[int]] = defaultdict(list)
    for one in read(fleet.bodies):
        if one["what"] == "begins":
            begun[one["job"]].append(one["attempt"])
    again = {job: numbers for job, numbers in begun.items() if len(numbers) > 1}
    forgotten = [job for job, numbers in again.items() if len(set(numbers)) < len(numbers)]
    return sorted(set(again) - set(forgotten)), sorted(forgotten)
