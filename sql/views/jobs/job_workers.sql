-- Deploy qwf:views/jobs/job_workers
-- Purpose: The live workers of the queue of a job, and what each has of what the job needs.
-- Guarantees: Agrees with claim about what a worker can run. Only a filter by job makes it fast:
--   without one it compares every job with every worker.

begin;

create view qwf.job_workers as
select
  f.*, f.fits and f.switched_on and not f.avoided as takes
from (
  select
    m.*, m.misses = 0 as fits,
    m.lost_it and coalesce(
      min(m.host) filter (where m.misses = 0 and m.switched_on) over job <> m.host
      or max(m.host) filter (where m.misses = 0 and m.switched_on) over job <> m.host, false)
      as avoided
  from (
    select
      j.id as job_id, w.id as worker, w.host, w.queue, w.slots, (
        select count(*) from qwf.jobs r where r.claimed_by = w.id and r.status = 'running'
      ) as running,
      w.current_model, w.vram_mb, w.labels, w.project, n.*,
      (not n.project_fits)::int + (not n.task_fits)::int + (not n.model_fits)::int
        + (not n.vram_fits)::int + (not n.labels_fit)::int as misses,
      o.host is null as switched_on, o.stop_policy, o.login as stop_login,
      o.acting_for as stop_acting_for, o.reason, o.until,
      coalesce(j.avoid_host = w.host and j.avoid_until > clock.now, false) as lost_it
    from qwf.jobs j
    cross join (select qwf.now() as now) clock
    join qwf.workers w on w.queue = j.queue and w.stopped_at is null
      and w.last_seen > clock.now - (select s.worker_stale from qwf.settings s)
    left join qwf.switched_off o on o.host = w.host and o.queue = w.queue
    cross join lateral (
      select
        coalesce(w.project = j.project, true) as project_fits,
        coalesce(j.task = any (w.tasks), true) as task_fits,
        coalesce(j.required_model = any (w.models), true) as model_fits,
        coalesce(j.vram_mb <= w.vram_mb, true) as vram_fits,
        j.requires = '{}' or coalesce(w.labels, '{}') @> j.requires as labels_fit
    ) n
  ) m
  window job as (partition by m.job_id)
) f;
comment on view qwf.job_workers is
  'Live workers of the queue of a job, and what each has of what it needs: select * from '
  'qwf.job_workers where job_id = 7 order by misses; never without a job_id.';
comment on column qwf.job_workers.job_id is 'The job.';
comment on column qwf.job_workers.worker is 'The worker.';
comment on column qwf.job_workers.host is 'Its box.';
comment on column qwf.job_workers.queue is 'The queue of both.';
comment on column qwf.job_workers.slots is 'How many jobs it runs at once.';
comment on column qwf.job_workers.running is 'How many it runs now.';
comment on column qwf.job_workers.current_model is 'Model that it has loaded.';
comment on column qwf.job_workers.vram_mb is 'GPU memory it has, MiB; null: unknown.';
comment on column qwf.job_workers.labels is 'Its labels.';
comment on column qwf.job_workers.project is 'The only project it works for; null: all.';
comment on column qwf.job_workers.project_fits is 'True: it works for the project of the job.';
comment on column qwf.job_workers.task_fits is 'True: it has the task.';
comment on column qwf.job_workers.model_fits is
  'True: it can load the model, or the job needs none.';
comment on column qwf.job_workers.vram_fits is
  'True: it has the GPU memory, as far as both are known.';
comment on column qwf.job_workers.labels_fit is 'True: it has all labels that the job requires.';
comment on column qwf.job_workers.misses is 'How many of these five are false.';
comment on column qwf.job_workers.switched_on is 'False: it is switched off.';
comment on column qwf.job_workers.stop_policy is 'How it was switched off: hard, drain or pause.';
comment on column qwf.job_workers.stop_login is 'Login that switched it off.';
comment on column qwf.job_workers.stop_acting_for is
  'For whom that login said it acts; nobody checks it.';
comment on column qwf.job_workers.reason is 'Why.';
comment on column qwf.job_workers.until is
  'Until when it is off; null: until somebody switches it on.';
comment on column qwf.job_workers.lost_it is
  'True: an attempt on its box did not complete lately, and the job avoids it.';
comment on column qwf.job_workers.fits is 'True: it has all that the job needs.';
comment on column qwf.job_workers.avoided is
  'True: the job avoids its box, and is left to a worker of another box that could take it.';
comment on column qwf.job_workers.takes is
  'True: it may take the job when it has a free slot, and nothing but a limit or a key holds the '
  'job.';

commit;
