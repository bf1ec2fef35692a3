-- Deploy qwf:views/fleet/running_jobs
-- Purpose: The jobs that run, where they run, and which other boxes could take them.
-- Guarantees: Who does not read takers does not pay for it. takers repeats the filter of claim,
--   because a view calls functions with the rights of its reader, and readers may not call private
--   functions.

begin;

create view qwf.running_jobs as
select
  j.id, j.run_id, j.node_id, j.task, coalesce(j.node_id, j.task) as name, j.queue, j.project,
  j.attempt, j.claimed_by as worker, w.host, j.claimed_at, j.lease_expires_at, p.fraction as progress,
  p.message as progress_message, date_part('epoch', qwf.now() - j.claimed_at) as seconds,
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
from qwf.jobs j
left join qwf.workers w on w.id = j.claimed_by
left join qwf.job_progress p on p.job_id = j.id and p.attempt = j.attempt
where j.status = 'running';
comment on view qwf.running_jobs is
  'Running jobs: select * from qwf.running_jobs order by claimed_at limit 100.';
comment on column qwf.running_jobs.id is 'Job id.';
comment on column qwf.running_jobs.run_id is 'Run it is a node of; null: standalone.';
comment on column qwf.running_jobs.node_id is 'Its node.';
comment on column qwf.running_jobs.task is 'Name of the task or program that the worker runs.';
comment on column qwf.running_jobs.name is 'Its node, or its task if it is standalone.';
comment on column qwf.running_jobs.queue is 'Its queue.';
comment on column qwf.running_jobs.project is 'Tenant tag.';
comment on column qwf.running_jobs.attempt is 'Claims so far.';
comment on column qwf.running_jobs.worker is 'Worker that holds it.';
comment on column qwf.running_jobs.host is 'Box of that worker; null: it is not registered.';
comment on column qwf.running_jobs.claimed_at is 'When it was claimed.';
comment on column qwf.running_jobs.lease_expires_at is 'When the claim lapses unless renewed.';
comment on column qwf.running_jobs.progress is 'Fraction done, 0 to 1; null: none reported.';
comment on column qwf.running_jobs.progress_message is 'Message of the last progress report.';
comment on column qwf.running_jobs.seconds is 'Seconds since it was claimed.';
comment on column qwf.running_jobs.takers is
  'Other boxes that could take it if it were handed back, at most four.';

commit;
