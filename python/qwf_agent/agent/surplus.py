"""Releases the jobs that wait here for model servers, and are more than these can take soon."""

from __future__ import annotations

from collections.abc import Mapping

from qwf_agent.agent.claim import Claim
from qwf_agent.agent.endings import Endings
from qwf_agent.agent.pool import Pool
from qwf_agent.servers.fleet import ServerFleet
from qwf_agent.servers.server import ModelServer

EXCESS_S = 1.0  # by then it is registered that no more jobs of a model are wanted
SLOW_S = 5.0  # a job that waits so long for a server that is ready waits for slow requests
ROOM_S = 5.0  # after affinity_max_wait what is in use may still have to leave
CROWDED_S = 60.0  # how long no job is claimed for a model without room


class Surplus:
    """Knows for which models enough jobs wait.

    Invariant: a model in `full` is not registered, so that no more jobs of it are claimed.
    """

    def __init__(self, fleet: ServerFleet, pool: Pool, endings: Endings) -> None:
        self.full: dict[str, float] = {}  # models for which enough jobs wait, and since when
        self._fleet = fleet
        self._pool = pool
        self._endings = endings
        self._crowded: dict[str, float] = {}  # models without room on a card, and until when

    def step(self, waits_since: Mapping[Claim, float], affinity_s: float, now: float) -> bool:
        """Hold only as many jobs as a server takes at once beside those in flight: the others stay
        in the queue, where another agent may take them, and do not fill the backlog. A server that
        is ready may have more, as long as none waits for SLOW_S: for quick requests each claim
        brings many jobs. If no server gets room on its card, all go back, and for a while no more
        are claimed. Returns whether the models to register have changed."""
        waiting: dict[str, list[Claim]] = {}
        for claim in waits_since:
            waiting.setdefault(str(claim.model), []).append(claim)
        full, self._pool.held = {}, 0
        for model, claims in waiting.items():
            servers = self._fleet.choice(model)
            ready = any(server.is_ready_for(model) for server in servers)
            enough = min(sum(server.parallel for server in servers), len(self._pool.slots))
            if servers and all(_has_no_room(server, now - affinity_s) for server in servers):
                enough, self._crowded[model] = 0, now + CROWDED_S
            least = enough
            if model in self.full:
                least = enough // 2 + 1 if ready else 1
            elif ready and now < waits_since[claims[0]] + SLOW_S:
                continue
            if servers and len(claims) >= least:
                full[model] = self.full.get(model, now)
            if now >= full.get(model, now) + EXCESS_S:  # until then a claim would bring more of it
                self._pool.held += len(claims)
            late = [one for one in claims[enough:] if now >= waits_since[one] + EXCESS_S]
            self._endings.release([one for one in late if one in self._pool.backlog])
        for model, until in self._crowded.items():
            if now < until:
                full.setdefault(model, self.full.get(model, now))
        changed, self.full = full.keys() != self.full.keys(), full
        return changed


def _has_no_room(server: ModelServer, before: float) -> bool:
    """True if its card has had no room since a time before this, so long that other boxes should
    get its jobs."""
    since = server.no_room_since
    return since is not None and before >= since + ROOM_S
