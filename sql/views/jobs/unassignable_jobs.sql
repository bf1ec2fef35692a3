-- Deploy qwf:views/jobs/unassignable_jobs
-- Purpose: Queued jobs that no live worker of their queue could take.
-- Guarantees: Repeats the filter of claim, because a view calls functions with the rights of its
--   reader, and readers may not call private functions.

begin;

create view qwf.unassignable_jobs as
select j.id, j.run_id, j.node_id, j.task, j.queue, j.required_model, j.vram_mb, j.requires,
  qwf.now() - j.queued_at as waited
from qwf.jobs j
cross join qwf.settings s
where j.status = 'queued' and not starts_with(j.queue, 'qwf.')
  and not exists (
    select from qwf.workers w
    where w.queue = j.queue and w.stopped_at is null and w.last_seen > qwf.now() - s.worker_stale
      and (w.project is null or j.project = w.project)
      and (w.tasks is null or j.task = any (w.tasks))
      and (j.required_model is null or w.models is null or j.required_model = any (w.models))
      and (j.vram_mb is null or w.vram_mb is null or j.vram_mb <= w.vram_mb)
      and w.labels @> j.requires
      and not exists (
        select from qwf.switched_off o where o.host = w.host and o.queue = w.queue))
order by j.queued_at;
comment on view qwf.unassignable_jobs is
  'Queued jobs that no live, switched-on worker could take; select qwf.why_not(id) says why.';
comment on column qwf.unassignable_jobs.id is 'Job id.';
comment on column qwf.unassignable_jobs.run_id is 'Run it is a node of; null: standalone.';
comment on column qwf.unassignable_jobs.node_id is 'Its node.';
comment on column qwf.unassignable_jobs.task is
  'Name of the task or program that a worker would run.';
comment on column qwf.unassignable_jobs.queue is 'Its queue.';
comment on column qwf.unassignable_jobs.required_model is 'Model it needs.';
comment on column qwf.unassignable_jobs.vram_mb is 'GPU memory it needs, MiB.';
comment on column qwf.unassignable_jobs.requires is 'Labels it needs.';
comment on column qwf.unassignable_jobs.waited is 'How long it has been waiting.';

commit;
