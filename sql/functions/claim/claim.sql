-- Deploy qwf:functions/claim/claim
-- Purpose: Hands queued jobs to a worker. This is the only way from queued to running.
-- Guarantees: A job is handed to one worker only: its row is locked when it is picked, and made
--   running in the same transaction. Limited jobs take their slots first, so that claims of rivals
--   count before they commit. A job whose references cannot be resolved fails with QW004, and the
--   others are still handed out. A walk is a scan along one index in claim order that stops at the
--   jobs it takes. Every walk follows its index whatever the statistics say: the settings below
--   hold in all functions that claim calls, and rule out what a cached plan with an unknown LIMIT
--   would choose instead.
-- Locks: free slots, queued jobs and runs that have not started; skips those that somebody else has
--   locked.
-- Notifies: the next sleeper of the queue, if there may be more jobs than this worker took, or jobs
--   that it cannot run; on a queue with placement pack, the better worker that it leaves them to.
-- Raises: QW005 for max_jobs outside 1 to 1000, QW006 for an unknown queue.
-- Called by: workers.

begin;

create function qwf.claim(
  queue text, worker text, max_jobs int default 1, lease interval default null,
  light_only boolean default false)
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
  v_now timestamptz := qwf.now();
  v_terms record;
  v_worker qwf.workers;
  v_room int := claim.max_jobs;
  v_queue_slots qwf.limit_slots[] := '{}';
  v_limit_slots qwf.limit_slots[] := '{}';
  v_jobs _qwf.picked[];
begin
  select
    q.paused, q.max_running, q.placement, coalesce(claim.lease, q.lease, s.lease) as lease,
    coalesce(q.timeout, s.timeout) as timeout,
    (select true from qwf.jobs j  -- limit 1: exists may be planned to read all of them
      where j.queue = q.name and j.status = 'queued' and j.limit_by is not null limit 1) as limited,
    exists (select from qwf.switched_off o where o.host = w.host and o.queue = q.name) as off,
    w as worker  -- null if not registered: then nothing is filtered
    into v_terms
  from qwf.queues q
  cross join qwf.settings s
  left join qwf.workers w on w.id = claim.worker
  where q.name = claim.queue;
  if not found then
    perform _qwf.raise_unknown_queue(claim.queue);
  end if;
  perform _qwf.check_claim(claim.worker, claim.max_jobs, v_terms.lease);
  v_worker := v_terms.worker;
  if v_terms.paused or v_terms.off
    or v_terms.placement = 'pack' and _qwf.yields(claim.queue, v_worker, v_now) then
    return;
  end if;
  if v_terms.max_running is not null then
    v_queue_slots := _qwf.lock_free_slots('queue:' || claim.queue, v_room);
    v_room := cardinality(v_queue_slots);
    if v_room = 0 then
      return;
    end if;
  end if;
  if v_terms.limited then
    v_limit_slots := _qwf.lock_limit_slots(claim.queue, v_worker, v_now, v_room, claim.light_only);
  end if;
  v_jobs := _qwf.pick(claim.queue, v_worker, v_now, v_room, claim.light_only, v_limit_slots);
  v_now := qwf.now();  -- again: a picked job may have been queued since the first reading

  if cardinality(v_jobs) = claim.max_jobs then
    perform _qwf.wake(claim.queue, 1);
  elsif cardinality(v_jobs) < v_room then
    perform _qwf.wake_another(claim.queue, v_worker, v_now);
    if v_jobs = '{}' then
      return;
    end if;
  end if;
  return query
  select * from _qwf.make_running(
    v_jobs, claim.worker, v_now, v_now + v_terms.lease, v_terms.timeout);
  if v_queue_slots <> '{}' or v_limit_slots <> '{}' then
    perform _qwf.fill_slots(v_queue_slots || v_limit_slots, array(select id from unnest(v_jobs)));
  end if;
end $$;
comment on function qwf.claim is
  'Hands at most max_jobs (1 to 1000) queued jobs of the queue to the worker, each with a token '
  'and a lease. light_only: only jobs that may run beside a model job. Returns nothing while the '
  'queue is paused, the worker is off, or a better one has room (placement pack); QW006 for an '
  'unknown queue. The worker need not be registered.';
call _qwf.allow('qwf.claim', 'qwf_worker');

commit;
