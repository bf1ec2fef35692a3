-- Deploy qwf:functions/claim/claim
-- Purpose: Hands queued jobs to a worker. This is the only way from queued to running.
-- Guarantees: A job is handed to one worker only: its row is locked when it is picked, and made
--   running in the same transaction. Limited jobs take their slots and starts first, so that
--   claims of rivals count before they commit. A job whose references cannot be resolved fails with
--   QW004, and the others are still handed out. A job with a key starts only when the one of its
--   key that started before has ended: only claim makes a waiting job (w) one that has started (s),
--   and only under the lock of its row. The jobs come in the order in which they were
--   picked: no join here may change it, and the settings below leave only nested loops. A walk is a
--   scan along one index in claim order that stops at the jobs it takes. Every walk follows its
--   index whatever the statistics say: the settings below hold in all functions that claim calls,
--   and rule out what a cached plan with an unknown LIMIT would choose instead.
-- Locks: starts and free slots of limits, queued jobs, and runs that have not started; skips those
--   that somebody else has locked.
-- Notifies: the next sleeper of the queue, if there may be more jobs than this worker took, or jobs
--   that it cannot run; on a queue with placement pack, the better worker that it leaves them to.
-- Raises: QW005 for max_jobs outside 1 to 1000, QW006 for an unknown queue.

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
  v_terms _qwf.claim_terms := _qwf.claim_terms(
    claim.queue, claim.worker, claim.max_jobs, claim.lease);
  v_room int := claim.max_jobs;
  v_queue_permits _qwf.permit[] := '{}';
  v_permits _qwf.permit[] := '{}';
  v_secret bytea := uuid_send(gen_random_uuid());
  v_jobs _qwf.picked[];
  v_runs bigint[];
begin
  if v_terms.closed or v_terms.packed and _qwf.yields(claim.queue, v_terms.worker, v_now) then
    return;
  end if;
  if v_terms.max_running is not null then
    v_queue_permits := _qwf.lock_permits('queue:' || claim.queue, v_now, v_room);
    v_room := cardinality(v_queue_permits);
    if v_room = 0 then
      return;
    end if;
  end if;
  if v_terms.limited then
    v_permits := _qwf.lock_wanted_permits(
      claim.queue, v_terms.worker, v_now, v_room, claim.light_only);
  end if;
  v_jobs := _qwf.pick(claim.queue, v_terms.worker, v_now, v_room, claim.light_only, v_permits);
  v_now := qwf.now();  -- again: a picked job may have been queued since the first reading
  if v_terms.asleep then
    perform _qwf.wake_another(
      claim.queue, v_terms.worker, v_now, claim.max_jobs, v_room, cardinality(v_jobs));
  end if;
  if v_jobs = '{}' then return; end if;
  v_runs := array(select p.run_id from unnest(v_jobs) p where p.run_id is not null);
  if v_runs <> '{}' then
    v_jobs := _qwf.resolve_inputs(v_jobs);
    v_runs := array(select p.run_id from unnest(v_jobs) p);
    v_jobs := _qwf.fail_unresolved(v_jobs, claim.worker, v_now);
  end if;
  return query
  update qwf.jobs j set
    status = 'running', token = _qwf.new_token(j.id, v_secret), attempt = j.attempt + 1,
    lease_expires_at = v_now + v_terms.lease, resolved_inputs = p.inputs, claimed_at = v_now,
    claimed_by = claim.worker, started_at = coalesce(j.started_at, v_now), run_next = false,
    key_state = case j.key_state when 'w' then 's' else j.key_state end,
    progress = null, progress_message = null, beat_at = null
  from unnest(v_jobs) p where j.ctid = p.row
  returning j.id, j.token, j.run_id, j.node_id, j.task, j.queue,
    coalesce(j.resolved_inputs, j.inputs), j.attempt, coalesce(j.timeout, v_terms.timeout),
    j.stall_timeout, j.required_model, (select r.out_dir from qwf.runs r where r.id = j.run_id),
    j.lease_expires_at, j.project, j.labels, j.light, case when j.run_id is null
      then j.created_at else (select r.created_at from qwf.runs r where r.id = j.run_id) end;
  if v_runs <> '{}' then perform _qwf.start_runs(v_runs, v_now); end if;
  if v_queue_permits <> '{}' or v_permits <> '{}' then
    perform _qwf.use_permits(v_queue_permits || v_permits, v_jobs, v_now);
  end if;
end $$;
comment on function qwf.claim is
  'Hands at most max_jobs (1 to 1000) queued jobs of the queue to the worker, each with a token '
  'and a lease. light_only: only jobs that may run beside a model job. Returns nothing while the '
  'queue is paused, the worker is off, or a better one has room (placement pack); QW006 for an '
  'unknown queue. The worker need not be registered.';
call _qwf.allow('qwf.claim', 'qwf_worker');

commit;
