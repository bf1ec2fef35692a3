"""The tab of a run that shows when its nodes waited and ran."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timezone
from typing import Any
from urllib.parse import quote

from starlette.requests import Request

from qwf_agent.look.query import as_id
from qwf_agent.web.drawings import timeline, timeline_rows
from qwf_agent.web.drawings.timeline_rows import Row
from qwf_agent.web.drawings.timeline_spans import KINDS, AttemptSpan, spans_of
from qwf_agent.web.reads.connections import Rows
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site import render

Read = Callable[..., Awaitable[Rows]]
MANY = 5000  # jobs of a run, from which its times may be a minute old
MOST_BARS = 40  # of a node, and MANY of all: else one bar stands for all attempts of a node
MOST_OPEN = 10  # runs of nodes whose rows are shown
ORDERS = {"start": "by start", "took": "longest first"}

NODES = """
select * from qwf.run_timeline t
where t.run_id = %(run)s::bigint and t.attempts > 0
order by t.idx
"""
ATTEMPTS = """
select t.job_id, t.name, t.at, t.attempt, t.what, t.by, t.waited, t.took, t.detail
from qwf.job_timeline t
where t.job_id = any(%(jobs)s::bigint[]) and t.attempt is not null
"""
WAITS = """
select j.id as job_id, j.node_id, j.queued_at, j.finished_at
from qwf.job_details j
where j.run_id = %(run)s::bigint and j.node_idx is not null and j.queue is null
  and j.queued_at is not null
limit 1000
"""
USED = "select * from qwf.run_usage where run_id = %(run)s::bigint"


async def show(request: Request, look: Look, run: dict[str, Any], nodes: Rows) -> dict[str, Any]:
    """A row for each node, and for the nodes of runs that the address opens."""
    asked = request.query_params
    kinds = sorted(set(KINDS.values()))
    kind = asked.get("kind") if asked.get("kind") in kinds else None
    order = asked.get("order") if asked.get("order") in ORDERS else "start"
    now = run["now"] if isinstance(run["now"], datetime) else datetime.now(timezone.utc)
    opened = [number for text in asked.getlist("open") if (number := as_id(text))][:MOST_OPEN]
    read = reader(look, nodes)
    reading = _Rows(request, look, now, order == "took", opened, read)
    rows = await reading.of(run["id"])
    shown = [found for row in rows if (found := row.shows(kind))]
    first = min(as_id(asked.get("from", "")) or 0, len(shown))
    after = first + timeline.fitting(shown[first:])
    return {
        "drawn": timeline.draw(
            rows, now, shown=shown[first:],
            needs={node["node_id"]: node["needs"] for node in nodes},
            zone=render.zone_named(request.cookies.get("qwf_zone")),
        ),
        "next": after if after < len(shown) else None,
        "kinds": [name for name in kinds if any(row.shows(name) for row in rows)],
        "kind": kind,
        "orders": ORDERS,
        "order": order,
        "opened": opened,
        "is_short": reading.is_short,
        "used": next(iter(await read("what was used", USED, run=run["id"])), None),
    }  # fmt: skip


def reader(look: Look, nodes: Rows) -> Read:
    """How the times of a run are read: those of a large one may be a minute old."""
    jobs = sum(sum((node["counts"] or {}).values()) or 1 for node in nodes)
    return look.part if jobs <= MANY else look.seldom


class _Rows:
    """Reads the rows of a run, and those of the runs that are open."""

    def __init__(
        self, request: Request, look: Look, now: datetime, by_length: bool, opened: list[int],
        read: Read,
    ) -> None:  # fmt: skip
        self._request, self._look, self._now = request, look, now
        self._by_length, self._opened = by_length, opened
        self._read = read
        self.is_short = False  # one bar stands for several attempts

    async def of(self, run: int, depth: int = 0) -> list[Row]:
        """The rows of a run, in order; below each those of the run that it is, if it is open."""
        nodes = await self._read("the timeline", NODES, run=run)
        alone = [node for node in nodes if not node["at_once"]]
        few = [node["job_id"] for node in alone if node["attempts"] <= MOST_BARS]
        if sum(node["attempts"] for node in alone) > MANY:
            few = []
        self.is_short |= len(few) < len(alone)
        found = await self._look.rows(ATTEMPTS, jobs=few) if few else []
        spans: dict[int, list[AttemptSpan]] = {}
        for one in found:
            spans.setdefault(one["job_id"], []).extend(spans_of([one], self._job))
        rows = [self._row(run, node, spans.get(node["job_id"], []), depth) for node in nodes]
        children = {node["node_id"]: node["child_run"] for node in nodes}
        waits = await self._waits(run, depth)
        ordered = timeline_rows.in_order(
            [row for row in [*rows, *waits] if row], self._by_length, self._now
        )
        every: list[Row] = []
        for row in ordered:
            every.append(row)
            child = children.get(row.name)
            if child is not None and child in self._opened and depth < MOST_OPEN:
                every += await self.of(child, depth + 1)
        return every

    def _row(
        self, run: int, node: dict[str, Any], spans: list[AttemptSpan], depth: int
    ) -> Row | None:
        path = f"/runs/{run}/nodes/{quote(node['node_id'])}"
        href = render.url(self._request, path) if node["is_map"] else self._job(node["job_id"])
        child = node["child_run"]
        opener = None if child is None else self._opener(child)
        return timeline_rows.row_of_node(node, spans, self._job, href, depth, opener)

    async def _waits(self, run: int, depth: int) -> list[Row]:
        """Questions that people were asked."""
        asked = [
            AttemptSpan(
                row["node_id"], "asked", row["queued_at"], row["finished_at"],
                href=self._job(row["job_id"]),
            )
            for row in await self._look.rows(WAITS, run=run)
        ]  # fmt: skip
        return [
            Row(row.name, row.spans, href=row.href, depth=depth)
            for row in timeline_rows.rows_of_spans(asked)
        ]

    def _opener(self, child: int) -> tuple[str, str]:
        """The link that shows the rows of a run, or hides them."""
        is_open = child in self._opened
        numbers = [one for one in self._opened if one != child] + ([] if is_open else [child])
        asked = self._request.query_params
        address = render.url(
            self._request, f"/runs/{self._request.path_params['run']}", show="timeline",
            order=asked.get("order"), kind=asked.get("kind"), open=numbers,
        )  # fmt: skip
        return address, f"{'▾' if is_open else '▸'} run {child}"

    def _job(self, job: int) -> str:
        return render.url(self._request, f"/jobs/{job}")
