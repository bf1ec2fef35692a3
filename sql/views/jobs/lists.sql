-- Lists of jobs: running, failed, unassignable, recent, and with their workers.

-- The jobs that run, where they run, and which other boxes could take them. Who does not read
-- takers does not pay for it. takers repeats the filter of claims (_can_run), but for tasks
-- that are held back, because a view calls functions with the rights of its reader, and readers
-- may not call private functions.
create view qwf.running_jobs as
select
  j.id, j.run_id, j.node_id, j.task, coalesce(j.node_id, j.task) as name, j.queue, j.project,
  j.attempt, j.claimed_by as worker, w.host, j.claimed_at, j.lease_expires_at,
  p.fraction as progress,
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
  'Other boxes that could take it if it were released, at most four.';

-- Jobs that failed, newest first. Who does not read host or released does not pay for them.
create view qwf.failed_jobs as
select
  j.id, j.run_id, j.node_id, j.task, j.queue, j.project, j.attempt, j.claimed_by as worker,
  j.finished_at, left(split_part(j.last_error, E'\n', 1), 80) as error, w.host,
  case when length(j.last_error) > 4000
    then left(j.last_error, 2000) || E'\n' || right(j.last_error, 2000) else j.last_error
  end as whole_error,
  (select count(*) from qwf.job_attempts a
    where a.job_id = j.id and a.outcome = 'released') as released
from qwf.jobs j
left join qwf.workers w on w.id = j.claimed_by
where j.status = 'failed' and coalesce(not starts_with(j.queue, 'qwf.'), true)
order by j.finished_at desc;
comment on view qwf.failed_jobs is
  'Failed jobs, the newest first, with the first line of their error; retry with select '
  'qwf.retry_job(id), or select qwf.retry_run(run_id).';
comment on column qwf.failed_jobs.id is 'Job id.';
comment on column qwf.failed_jobs.run_id is 'Run it is a node of; null: standalone.';
comment on column qwf.failed_jobs.node_id is 'Its node.';
comment on column qwf.failed_jobs.task is 'Name of the task or program that a worker ran.';
comment on column qwf.failed_jobs.queue is 'Queue that served it.';
comment on column qwf.failed_jobs.project is 'Tenant tag.';
comment on column qwf.failed_jobs.attempt is 'Claims.';
comment on column qwf.failed_jobs.worker is 'Worker of the last claim.';
comment on column qwf.failed_jobs.finished_at is 'When it failed.';
comment on column qwf.failed_jobs.error is
  'First line of the last error, cut; all of it is in qwf.jobs.';
comment on column qwf.failed_jobs.host is
  'Box of that worker; null: it is not known any more.';
comment on column qwf.failed_jobs.whole_error is
  'The last error; of one longer than 4,000 characters its begin and its end.';
comment on column qwf.failed_jobs.released is 'Attempts that were released.';

-- The newest jobs, both nodes and standalone jobs.
create view qwf.recent_jobs as
select
  j.id, j.run_id, j.node_id, j.task, j.queue, j.project, j.status, j.attempt,
  j.claimed_by as worker,
  round(extract(epoch from
    coalesce(j.finished_at, case when j.status = 'running' then clock.now end) - j.claimed_at),
    3) as seconds,
  date_trunc('second', j.created_at) as created_at,
  left(split_part(j.last_error, E'\n', 1), 80) as error
from qwf.jobs j
cross join (select qwf.now() as now) clock
order by j.id desc
limit 200;
comment on view qwf.recent_jobs is 'The newest 200 jobs.';
comment on column qwf.recent_jobs.id is 'Job id.';
comment on column qwf.recent_jobs.run_id is 'Run it is a node of; null: standalone.';
comment on column qwf.recent_jobs.node_id is 'Its node.';
comment on column qwf.recent_jobs.task is 'Name of the task or program that a worker runs.';
comment on column qwf.recent_jobs.queue is 'Queue that serves it.';
comment on column qwf.recent_jobs.project is 'Tenant tag.';
comment on column qwf.recent_jobs.status is 'State of the job.';
comment on column qwf.recent_jobs.attempt is 'Claims so far.';
comment on column qwf.recent_jobs.worker is 'Worker of the last claim.';
comment on column qwf.recent_jobs.seconds is 'Seconds the last attempt took, or has taken so far.';
comment on column qwf.recent_jobs.created_at is 'When it was enqueued.';
comment on column qwf.recent_jobs.error is
  'First line of the last error, cut; all of it is in qwf.jobs.';

-- Queued jobs that no live worker of their queue could take. Repeats the filter of claims,
-- as running_jobs does.
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

-- The live workers of the queue of a job, and what each has of what the job needs. Agrees with
-- the filter of claims (_can_run), but for tasks that are held back. Only a filter by job makes it
-- fast: without one it compares every job with every worker.
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
