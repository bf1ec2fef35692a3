"""The boxes, their workers and models, and the switches."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from starlette.requests import Request

from qwf_agent.look.draw import words
from qwf_agent.web.pages.boxes import Box, boxes, dots
from qwf_agent.web.reads import snapshot
from qwf_agent.web.reads.connections import Rows
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site.page import Page

TICK = """
select qwf.now() - to_timestamp(t.last_value / 1000.0) as age, s.tick, s.model_idle,
  qwf.version() as version
from qwf.last_tick t cross join qwf.settings s
"""
# What switching off would end, and which other boxes could take it.
AT_RISK = """
select j.id, coalesce(j.node_id, j.task) as name, j.claimed_by as worker, w.host, j.queue,
  j.progress, date_part('epoch', qwf.now() - j.claimed_at) as seconds,
  array(
    select distinct o.host
    from qwf.workers o cross join qwf.settings s
    where o.queue = j.queue and o.host <> w.host and o.stopped_at is null
      and o.last_seen > qwf.now() - s.worker_stale
      and (o.project is null or j.project = o.project)
      and (o.tasks is null or j.task = any (o.tasks))
      and (j.required_model is null or o.models is null or j.required_model = any (o.models))
      and (j.vram_mb is null or o.vram_mb is null or j.vram_mb <= o.vram_mb)
      and o.labels @> j.requires
      and not exists (
        select from qwf.switched_off f where f.host = o.host and f.queue = o.queue)
    order by o.host limit 4) as takers
from qwf.jobs j join qwf.workers w on w.id = j.claimed_by
where j.status = 'running'
order by j.claimed_at
limit 200
"""
# Which boxes fail. No index has the host of a job, so only the newest failures are counted.
FAILED_ON = """
select w.host, count(*)::int as failed
from (
  select j.claimed_by
  from qwf.jobs j
  where j.status = 'failed' and j.finished_at > qwf.now() - interval '1 h'
  order by j.finished_at desc limit 1000) f
join qwf.workers w on w.id = f.claimed_by
group by w.host
"""
# The models that live workers announce or that their servers have, and how many jobs of the queue
# wait for each. `served`: a server of the queue has it.
MODELS = """
select m.queue, m.model, m.hosts, m.served, (
  select count(*) from (
    select from qwf.jobs j
    where j.queue = m.queue and j.required_model = m.model and j.status = 'queued'
      and j.limit_by is null
    order by j.run_next, j.priority desc, j.position desc limit 1001) j) as waiting
from (
  select w.queue, a.model, bool_or(a.served) as served,
    array_remove(array_agg(distinct case when a.offered then w.host end order by
      case when a.offered then w.host end), null) as hosts
  from qwf.workers w cross join qwf.settings s
  cross join lateral (
    select o.model, true as offered, false as served from unnest(w.models) o (model)
    union all
    select k.model, false, true
    from jsonb_array_elements(w.servers) e cross join jsonb_object_keys(e -> 'models') k (model)
  ) a
  where w.stopped_at is null and w.last_seen > qwf.now() - s.worker_stale
  group by w.queue, a.model
  order by w.queue, a.model limit 100) m
"""
# Those of the last hour, and those that a live worker still carries out, such as a long pull.
REQUESTS = """
select r.host, r.queue, r.model, r.action, r.requested_by, r.requested_at, r.taken_by,
  r.answered_at, left(r.error, 1000) as error, r.progress, w.id is not null as under_way,
  r.taken_by is null and r.requested_at < qwf.now() - interval '5 min' as expired
from qwf.model_requests r cross join qwf.settings s
left join qwf.workers w on w.id = r.taken_by and r.answered_at is null and w.stopped_at is null
  and w.last_seen > qwf.now() - s.worker_stale
where (r.requested_at > qwf.now() - interval '1 h' or w.id is not null)
  and (%(host)s::text is null or r.host = %(host)s)
order by r.id desc limit 10
"""
SLEEPERS = """
select s.worker, s.queue, qwf.now() - s.since as said
from qwf.sleepers s
where s.since > qwf.now() - interval '15 s'
limit 1000
"""
DEAD = """
select f.*, f.last_seen as silent from qwf.worker_overview f
where f.state = 'dead' order by f.last_seen limit 50
"""
STOPPED = """
select f.worker, f.host, f.queue, f.version, f.last_seen from qwf.worker_overview f
where f.state = 'stopped' order by f.last_seen limit 50
"""
OFF_WITHOUT_WORKER = """
select o.* from qwf.switched_off o
where not exists (
  select from qwf.worker_overview f
  where f.host = o.host and f.queue = o.queue and f.state not in ('dead', 'stopped'))
order by o.host, o.queue limit 50
"""
MOST_BOXES = 200  # cards of a page
LENGTHS = (("30 min", 30), ("2 h", 120), ("8 h", 480), ("24 h", 1440))
ROUNDED_MIN = 5  # so that a page stays the same for some minutes


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The boxes at one moment."""
    facts = await engine(look)
    workers, all_of_them = await look.part("workers", snapshot.WORKERS), await crowd(look)
    samples = await look.part("load of boxes", snapshot.HOSTS)
    servers = await look.part("model servers", snapshot.SERVERS)
    found = boxes(workers, samples, facts["model_idle"].total_seconds(), servers)
    shown = found[:MOST_BOXES]
    return {
        "boxes": shown,
        **more(shown, found, all_of_them),
        "engine": facts,
        "dead": await look.part("dead workers", DEAD),
        "all_dead": all_of_them["dead"],
        "off": await look.part("boxes that are switched off", OFF_WITHOUT_WORKER),
        "stopped": await look.part("stopped workers", STOPPED),
        "models": models_of(found, await look.part("models", MODELS)),
        "requests": await look.part("requests for models", REQUESTS, host=None),
        "listener": request.app.state.listener,
        **await switches(look),
    }


async def engine(look: Look) -> dict[str, Any]:
    """The age of the last tick, and the settings that cards need."""
    (row,) = await look.rows(TICK)
    return row


async def crowd(look: Look) -> dict[str, Any]:
    """All workers and boxes, counted: the pages show the first MOST_BOXES."""
    counted = await look.part("counts of workers", snapshot.CROWD)
    return counted[0] if counted else {"workers": 0, "boxes": 0, "dead": 0, "off": []}


def more(shown: list[Box], found: list[Box], counted: dict[str, Any]) -> dict[str, int]:
    """How many workers and boxes there are that no card shows."""
    in_cards = sum(len(box.workers) for box in shown)
    idle = sum(not box.workers for box in found)  # boxes with a sample alone
    return {
        "more_workers": max(0, counted["workers"] - in_cards),
        "more_boxes": max(0, counted["boxes"] + idle - len(shown)),
    }


async def failed_on(look: Look) -> dict[str, int]:
    """How many of the newest jobs that failed within an hour did so on each box."""
    found = await look.part("failures of each box", FAILED_ON)
    return {row["host"]: row["failed"] for row in found}


async def switches(look: Look) -> dict[str, Any]:
    """What the cards need besides the boxes: what is at risk, who sleeps, and until when."""
    return {
        "failed_on": await failed_on(look),
        "at_risk": _by_worker(await look.part("jobs that a switch would end", AT_RISK)),
        "asleep": {row["worker"]: row["said"] for row in await look.part("sleepers", SLEEPERS)},
        "lengths": lengths(datetime.now(timezone.utc)),
        "dots": dots,
    }


def lengths(now: datetime) -> list[tuple[str, datetime]]:
    """For how long somebody may switch a worker off, and until when that is."""
    begins = now.replace(minute=now.minute - now.minute % ROUNDED_MIN, second=0, microsecond=0)
    return [(name, begins + timedelta(minutes=minutes + ROUNDED_MIN)) for name, minutes in LENGTHS]


def _by_worker(jobs: Rows) -> dict[str, Rows]:
    found: dict[str, Rows] = {}
    for job in jobs:
        found.setdefault(job["worker"], []).append(job)
    return found


def models_of(found: list[Box], models: Rows) -> Rows:
    """The rows of MODELS, each with the boxes that have it loaded and the servers that have it but
    cannot serve it. An agent announces the models of its servers for all its queues: those for
    which nothing waits, and that no server of the queue has, are left out."""
    served = {model["model"] for model in models if model["served"]}
    return [
        {**model, "loaded": _loaded(found, model), "troubled": _troubled(found, model)}
        for model in models
        if model["served"] or model["waiting"] or model["model"] not in served
    ]


def _loaded(found: list[Box], model: dict[str, Any]) -> list[str]:
    """The boxes that have a model of a queue loaded, in a worker or in a model server."""
    wanted = (model["queue"], model["model"])
    return [box.name for box in found if wanted in _models_of(box)]


def _models_of(box: Box) -> set[tuple[str, str]]:
    """The models that are loaded on a box, each after its queue."""
    held = (*box.models, *(one for card in box.cards for one in card.models))
    return {(queue, one.name) for one in held for queue in one.queues} | {
        (server["queue"], model)
        for server in box.servers if server["state"] == "ready"
        for model in ([server["model"]] if server["model"] else server["models"])
    }  # fmt: skip


def _troubled(found: list[Box], model: dict[str, Any]) -> Rows:
    """The servers of the queue that have the model and cannot serve it: `why` if it lacks it."""
    return [
        {**server, "why": server["lacks"].get(model["model"])}
        for box in found
        for server in box.servers
        if server["queue"] == model["queue"] and model["model"] in server["models"]
        and (server["state"] in words.TROUBLE or model["model"] in server["lacks"])
    ]  # fmt: skip


PAGES = (
    Page("/fleet", "fleet.html", read, topics=("fleet", "hosts", "servers", "running"), every_s=5),
)
