-- Deploy qwf:functions/claim
-- requires: schema/jobs
-- requires: schema/workers
-- requires: schema/queues
-- requires: schema/settings
-- requires: functions/_stamp
-- requires: functions/_raise_unknown_queue
-- requires: functions/_wake
-- requires: functions/desired_state
-- requires: functions/now
-- Purpose: Hands queued jobs to a worker: the one way from queued to running.
-- Guarantees: A job is handed to one worker: the rows are locked as they are picked, and stamped at
--   once. Order: run_next, priority, FIFO. A job whose references cannot be resolved fails with
--   QW004, and the others are handed out all the same. The plan is a walk along jobs_claim whatever
--   the statistics say: the settings below forbid what a cached plan with an unknown limit would
--   choose instead.
-- Locks: queued jobs, those that are free; runs that have not started, those that are free.
-- Notifies: the next sleeper of the queue, where there may be more than this worker took.
-- Raises: QW005 for max_jobs outside 1 to 1000, QW006 for an unknown queue.
-- Called by: workers.

begin;

create function qwf.claim(
  queue text, worker text, max_jobs int default 1, lease interval default null)
returns setof qwf.claimed_job
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_now timestamptz;
  v_terms record;
  v_worker qwf.workers;
  v_jobs bigint[];
begin
  select
    q.paused, coalesce(claim.lease, q.lease, s.lease) as lease,
    coalesce(q.timeout, s.timeout) as timeout
    into v_terms
  from qwf.queues q cross join qwf.settings s
  where q.name = claim.queue;
  if not found then
    perform qwf._raise_unknown_queue(claim.queue);
  end if;
  if claim.worker is null or octet_length(claim.worker) > 500
    or claim.max_jobs is null or claim.max_jobs not between 1 and 1000
    or v_terms.lease not between '1 s' and '1 day' then
    raise exception using errcode = 'QW005', message = 'cannot claim like that',
      detail = format('worker %L, max_jobs %s, lease %s',
        claim.worker, claim.max_jobs, v_terms.lease),
      hint = 'name the worker, and take 1 to 1000 jobs with a lease from one second to one day';
  end if;
  if v_terms.paused then
    return;
  end if;
  -- not registered: nothing is filtered
  select w.* into v_worker from qwf.workers w where w.id = claim.worker;
  if found and qwf.desired_state(v_worker.host, v_worker.queue) = 'off' then
    return;
  end if;

  v_jobs := array(
    select j.id
    from qwf.jobs j
    where j.queue = claim.queue and j.status = 'queued' and j.limit_by is null
      and (v_worker.project is null or j.project = v_worker.project)
      and (v_worker.tasks is null or j.task = any (v_worker.tasks))
      and (j.required_model is null or v_worker.models is null
        or j.required_model = any (v_worker.models))
      and (j.vram_mb is null or v_worker.vram_mb is null or j.vram_mb <= v_worker.vram_mb)
      and (j.requires = '{}' or coalesce(v_worker.labels, '{}') @> j.requires)
    order by j.run_next desc, j.priority, j.position
    limit claim.max_jobs
    for no key update skip locked);
  v_now := qwf.now();  -- after the pick: what was picked may have been queued since
  if cardinality(v_jobs) = claim.max_jobs then
    perform qwf._wake(claim.queue, 1);
  end if;
  return query
  select * from qwf._stamp(
    v_jobs, claim.worker, v_now, v_now + v_terms.lease, v_terms.timeout);
end $$;
comment on function qwf.claim(text, text, int, interval) is
  'Hands at most max_jobs (1 to 1000) queued jobs of the queue to the worker, each with a token '
  'and a lease. Returns nothing while the queue is paused or the worker is off; QW006 for an '
  'unknown queue. The worker need not be registered.';
revoke all on function qwf.claim(text, text, int, interval) from public;
call qwf._allow('qwf.claim(text, text, int, interval)', 'qwf_worker');

commit;
