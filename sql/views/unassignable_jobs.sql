-- Deploy qwf:views/unassignable_jobs
-- requires: schema/jobs
-- requires: schema/workers
-- requires: schema/settings
-- requires: functions/_misfits
-- requires: functions/now
-- Purpose: Queued jobs that no live worker of their queue would take.

begin;

create view qwf.unassignable_jobs as
select j.id, j.run_id, j.node_id, j.task, j.queue, j.required_model, j.vram_mb, j.requires,
  qwf.now() - j.queued_at as waited
from qwf.jobs j
cross join qwf.settings s
where j.status = 'queued'
  and not exists (
    select from qwf.workers w
    where w.queue = j.queue and w.stopped_at is null and w.last_seen > qwf.now() - s.worker_stale
      and cardinality(qwf._misfits(j, w)) = 0)
order by j.queued_at;
comment on view qwf.unassignable_jobs is
  'Queued jobs that nobody alive would take; select qwf.why_not(id) says why.';
comment on column qwf.unassignable_jobs.id is 'Job id.';
comment on column qwf.unassignable_jobs.run_id is 'Run it is a node of; null: standalone.';
comment on column qwf.unassignable_jobs.node_id is 'Its node.';
comment on column qwf.unassignable_jobs.task is 'What a worker would run.';
comment on column qwf.unassignable_jobs.queue is 'Its queue.';
comment on column qwf.unassignable_jobs.required_model is 'Model it needs.';
comment on column qwf.unassignable_jobs.vram_mb is 'GPU memory it needs, MiB.';
comment on column qwf.unassignable_jobs.requires is 'Labels it needs.';
comment on column qwf.unassignable_jobs.waited is 'How long it has been waiting.';

commit;
