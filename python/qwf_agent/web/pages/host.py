"""One box: its load over time, its workers, what it runs, and what failed there."""

from __future__ import annotations

from typing import Any

from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request

from qwf_agent.web.pages import fleet, history
from qwf_agent.web.pages.boxes import Box, boxes
from qwf_agent.web.reads import snapshot
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site.page import Data, NotFoundError, Page

KNOWN = """
select
  exists (select from qwf.workers w where w.host = %(host)s) as worker,
  exists (select from qwf.host_metrics m where m.host = %(host)s)
    or exists (select from qwf.host_minutes m where m.host = %(host)s) as samples
"""
WORKERS = """
select f.worker, f.queue, f.state, f.slots, f.running, f.version, f.pid, f.project, f.rank,
  f.vram_mb, f.last_seen, f.started_at, w.labels, w.tasks, w.models
from qwf.worker_overview f join qwf.workers w on w.id = f.worker
where f.host = %(host)s
order by f.state = 'stopped', f.queue, f.started_at desc
limit 50
"""
RUNNING = """
select j.id, j.run_id, coalesce(j.node_id, j.task) as name, j.queue, j.progress,
  j.progress_message, date_part('epoch', qwf.now() - j.claimed_at) as seconds,
  j.lease_expires_at - qwf.now() as lease_left
from qwf.workers w join qwf.jobs j on j.claimed_by = w.id and j.status = 'running'
where w.host = %(host)s
order by j.claimed_at limit 200
"""
# No index has the host of a job, so only the newest failures of the fleet are looked through.
FAILED = """
select f.* from (
  select j.id, j.run_id, coalesce(j.node_id, j.task) as name, j.queue, j.finished_at,
    left(j.last_error, 1000) as error, j.claimed_by
  from qwf.jobs j
  where j.status = 'failed'
  order by j.finished_at desc limit 1000) f
join qwf.workers w on w.id = f.claimed_by
where w.host = %(host)s
order by f.finished_at desc limit 20
"""


class Name(Convertor[str]):
    """A name as part of an address: whatever a host calls itself, with slashes and line ends."""

    regex = r"[\s\S]+"

    def convert(self, value: str) -> str:
        """The name."""
        return value

    def to_string(self, value: str) -> str:
        """The part of the address, unquoted."""
        return value


register_url_convertor("name", Name())


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The box of the address."""
    host, span = request.path_params["host"], request.query_params.get("span", "10m")
    if span not in history.SPANS:
        raise NotFoundError(
            f"there is no span {span[:20]}: it is one of {', '.join(history.SPANS)}"
        )
    known = await _known(look, host)
    facts = await fleet.engine(look)
    workers = await look.rows(snapshot.WORKERS_OF_HOST, host=host)
    samples = [m for m in await look.rows(snapshot.HOSTS) if m["host"] == host]
    servers = [s for s in await look.rows(snapshot.SERVERS) if s["host"] == host]
    found = boxes(workers, samples, facts["model_idle"].total_seconds(), servers)
    load = await history.read(look, host, span) if known["samples"] else None
    return {
        "host": host,
        "span": span,
        "spans": history.SPANS,
        "charts": load.charts() if load else {},
        "sums": load.sums() if load else [],
        "box": found[0] if found else Box(host),
        "engine": facts,
        "workers": await look.rows(WORKERS, host=host),
        "jobs": await look.rows(RUNNING, host=host),
        "failed": await look.rows(FAILED, host=host),
        "requests": await look.rows(fleet.REQUESTS, host=host),
        **await fleet.switches(look),
    }


async def load_over_time(request: Request, look: Look) -> dict[str, Any]:
    """The lines of all charts of a box, for charts.js."""
    host = request.query_params.get("host", "")[:500]
    span = request.query_params.get("span", "10m")
    if span not in history.SPANS:
        raise NotFoundError("there is no such span")
    load = await history.read(look, host, span)
    return {"at": load.at, "lines": load.lines}


async def _known(look: Look, host: str) -> dict[str, Any]:
    """What the database has of a host. Raises NotFoundError if it has nothing."""
    known = await look.row(KNOWN, host=host) if "\0" not in host else None
    if known is None or not any(known.values()):
        raise NotFoundError(
            f"no box is called {host[:200]}: none of this name has registered a worker or sent a"
            " sample, or it was so long ago that it is forgotten"
        )
    return known


PAGES = (
    Page("/fleet/{host:name}", "host.html", read,
         topics=("fleet", "hosts", "servers", "running", "failed"), every_s=5),
)  # fmt: skip
DATA = (Data("/history/hosts", load_over_time, fresh_s=5),)
