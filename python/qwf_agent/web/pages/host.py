"""One box: its load over time, its workers, what it runs, and what failed there."""

from __future__ import annotations

from typing import Any

from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request

from qwf_agent.web.pages import fleet, history
from qwf_agent.web.pages.boxes import boxes
from qwf_agent.web.reads import snapshot
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site.page import Data, NotFoundError, Page

BOX = "select * from qwf.box_overview where host = %(host)s"
SERVERS = "select * from qwf.server_overview where host = %(host)s limit 1000"
WORKERS = """
select worker, queue, state, slots, running, version, pid, project, rank, vram_mb, last_seen,
  started_at, labels, tasks, models
from qwf.worker_overview
where host = %(host)s and last_seen < interval '1 day'
order by state = 'stopped', queue, started_at desc
limit 50
"""
RUNNING = """
select id, run_id, name, queue, progress, progress_message, seconds
from qwf.running_jobs
where host = %(host)s
order by claimed_at limit 200
"""
# No index has the host of a job, so only the newest failures of the fleet are looked through.
FAILED = """
select f.* from (
  select id, run_id, coalesce(node_id, task) as name, queue, finished_at,
    left(whole_error, 1000) as error, host
  from qwf.failed_jobs
  order by finished_at desc limit 1000) f
where f.host = %(host)s
order by f.finished_at desc limit 20
"""


class AnyName(Convertor[str]):
    """A name as part of an address: whatever a host calls itself, with slashes and line ends."""

    regex = r"[\s\S]+"

    def convert(self, value: str) -> str:
        """The name."""
        return value

    def to_string(self, value: str) -> str:
        """The part of the address, unquoted."""
        return value


register_url_convertor("name", AnyName())


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The box of the address."""
    host, span = request.path_params["host"], request.query_params.get("span", "10m")
    if span not in history.SPANS:
        raise NotFoundError(
            f"there is no span {span[:20]}: it is one of {', '.join(history.SPANS)}"
        )
    row = await look.row(BOX, host=host) if "\0" not in host else None
    await _check_known(look, host, row)
    workers = await look.rows(snapshot.WORKERS_OF_HOST, host=host)
    found = boxes([row] if row else [], workers, await look.rows(SERVERS, host=host))
    load = await history.read(look, host, span)
    return {
        "host": host,
        "span": span,
        "spans": history.SPANS,
        "charts": load.charts(),
        "sums": load.sums(),
        "box": found[0] if found else None,
        "engine": await fleet.engine(look),
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


async def _check_known(look: Look, host: str, row: dict[str, Any] | None) -> None:
    """Raise NotFoundError if the database has nothing of a host."""
    if row is None and ("\0" in host or not await look.value(history.KNOWN, host=host)):
        raise NotFoundError(
            f"no box is called {host[:200]}: none of this name has registered a worker or sent a"
            " sample, or it was so long ago that it is forgotten"
        )


PAGES = (
    Page("/fleet/{host:name}", "host.html", read,
         topics=("fleet", "hosts", "servers", "running", "failed"), every_s=5),
)  # fmt: skip
DATA = (Data("/history/hosts", load_over_time, fresh_s=5),)
