-- The whole system in one row, and all known names.

-- Everything in one row: jobs, questions, failures, workers, boxes, and when the engine was last
-- looked after. Who reads some of the columns pays for these alone: questions and failed are two
-- short walks, and only the sums of jobs count the queues. Can be read on a standby.
create view qwf.overview as
select
  q.queued, q.more_queued, q.running, q.scheduled, q.more_scheduled, q.queues, q.held,
  (select count(*) from (
    select from qwf.waits w where w.kind = 'question' order by w.since limit 1001) a)::int
    as questions,
  (select count(*) from (
    select from qwf.jobs j
    where j.status = 'failed' and j.finished_at > (select qwf.now() - interval '1 h')
      and coalesce(not starts_with(j.queue, 'qwf.'), true)
      and not coalesce(j.last_error ~ '^[0-9]+ of [0-9]+ elements failed' and (
        select true from qwf.jobs e
        where e.parent_id = j.id and e.status = 'failed' limit 1), false)
    order by j.finished_at desc limit 1001) f)::int as failed,
  w.boxes, w.workers, w.dead, t.last_tick, qwf.now() - t.last_tick as tick_age,
  qwf.version() as version,
  not exists (select from qwf.jobs) and not exists (select from qwf.runs) as empty
from (
  select to_timestamp(nullif(l.last_value, 0) / 1000.0) as last_tick from qwf.last_tick l
) t
left join (
  select
    sum(least(o.queued, 10000))::bigint as queued,
    coalesce(bool_or(o.queued > 10000), false) as more_queued, sum(o.running)::bigint as running,
    sum(o.scheduled)::bigint as scheduled,
    coalesce(bool_or(o.more_scheduled), false) as more_scheduled, count(*)::int as queues,
    coalesce(array_agg(o.queue order by o.queue)
      filter (where o.queued > 0 and o.state in ('paused', 'unserved')
        or o.held_tasks <> '{}'), '{}') as held
  from qwf.queue_overview o
) q on true
left join (
  select
    count(distinct o.host) filter (where o.live)::int as boxes,
    count(*) filter (where o.live)::int as workers,
    count(*) filter (where o.state = 'dead')::int as dead
  from qwf.worker_overview o
) w on true;
comment on view qwf.overview is 'Everything in one row: select * from qwf.overview.';
comment on column qwf.overview.queued is
  'Jobs that wait for a worker, at most 10,000 of each queue counted.';
comment on column qwf.overview.more_queued is 'True: some queue has more.';
comment on column qwf.overview.running is 'Running jobs.';
comment on column qwf.overview.scheduled is
  'Jobs that are not due yet; if more_scheduled, at least that many.';
comment on column qwf.overview.more_scheduled is
  'True: more than 10,000 are scheduled, and only the first 10,001 due were counted.';
comment on column qwf.overview.queues is 'Number of queues.';
comment on column qwf.overview.held is
  'Queues whose jobs cannot start: they are paused, no worker serves them, or a task is held.';
comment on column qwf.overview.questions is
  'Questions that wait for a person; 1,001: more than 1,000.';
comment on column qwf.overview.failed is
  'Jobs that failed in the last hour, without maps whose elements failed; 1,001: more than 1,000.';
comment on column qwf.overview.boxes is 'Boxes with a live worker.';
comment on column qwf.overview.workers is 'Live workers, one for each queue of each agent.';
comment on column qwf.overview.dead is 'Dead workers.';
comment on column qwf.overview.last_tick is
  'When an agent, or qwf tick, last looked after the engine; null: never.';
comment on column qwf.overview.tick_age is 'Time since then; more than a minute: nobody does.';
comment on column qwf.overview.version is 'Version of the schema.';
comment on column qwf.overview.empty is 'True: no job and no run is there.';

-- The names of queues, workflows, tasks, boxes, workers, model servers, schedules and limits. A
-- filter by kind reads only what has names of that kind.
create view qwf.known_names as
select 'queue' as kind, q.name from qwf.queues q where not starts_with(q.name, 'qwf.')
union all
select 'workflow', w.name from qwf.workflows w where w.current
union all
select 'schedule', s.name from qwf.schedules s
union all
select 'limit', l.name from qwf.limits l
union all
select distinct 'host', w.host from qwf.workers w
union all
select 'worker', w.id from qwf.workers w
union all
select distinct 'server', w.host || '/' || (s.value ->> 'name')
from qwf.workers w, jsonb_array_elements(w.servers) s
union all
select 'task', t.name
from (
  select c.task as name from qwf.attempt_totals c
  union
  select unnest(w.tasks) from qwf.workers w
) t;
comment on view qwf.known_names is
  'Names that people type: select name from qwf.known_names where kind = ''queue''.';
comment on column qwf.known_names.kind is
  'queue, workflow, schedule, limit, host, worker, server or task.';
comment on column qwf.known_names.name is
  'The name; of a model server, HOST/NAME. Tasks are those that have run or that a worker has.';
