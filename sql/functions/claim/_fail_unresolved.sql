-- Deploy qwf:functions/claim/_fail_unresolved
-- Purpose: Fails picked jobs whose references cannot be resolved, or asks a person about them.
-- Guarantees: The refusal is written as an attempt with its reason, and leaves an event for the
--   run. The question does not offer a retry, because what the job refers to stays as it is.
--   Sleepers are woken for the slots that these jobs do not take.
-- Locks: expects the jobs locked by the caller.
-- Notifies: sleepers of the queues where jobs wait for the slots.
-- Called by: _resolve_inputs.

begin;

create function _qwf.fail_unresolved(p_picked _qwf.picked[], p_worker text, p_now timestamptz)
returns _qwf.picked[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_refused bigint[] := array(select p.id from unnest(p_picked) p where p.error is not null);
begin
  with refused as (
    update qwf.jobs j set
      status = k.status, finished_at = case when k.status = 'failed' then p_now end,
      input_spec = case
        when k.status = 'failed' then j.input_spec else _qwf.failure_question(p.error, false) end,
      queued_at = case when k.status = 'failed' then k.queued_at else p_now end,
      last_error = p.error, resolved_inputs = null, attempt = j.attempt + 1,
      claimed_by = p_worker, claimed_at = p_now, started_at = coalesce(j.started_at, p_now),
      run_next = false
    from unnest(p_picked) p
    cross join lateral (
      select case b.on_failure when 'ask' then 'awaiting_input' else 'failed'
        end::qwf.job_status as status, b.queued_at
      from qwf.jobs b where b.id = p.id offset 0) k
    where p.error is not null and j.ctid = p.row
    returning j.id, j.run_id, j.attempt, j.status, j.queue, j.task, k.queued_at, j.last_error
  ), attempted as (
    insert into qwf.job_attempts (
      job_id, attempt, worker, queued_at, started_at, finished_at, outcome, error, detail)
    select r.id, r.attempt, p_worker, r.queued_at, p_now, p_now, 'fatal',
      r.last_error, '{"reason": "unresolved"}'
    from refused r
  ), counted as (
    insert into qwf.attempt_counts (minute, queue, task, outcome, waits, runs)
    select date_bin('1 minute', p_now, 'epoch'), r.queue, r.task, 'fatal',
      array_agg(date_part('epoch', p_now - r.queued_at)::real), array_agg(0::real)
    from refused r where not starts_with(r.queue, 'qwf.') group by r.queue, r.task
  )
  insert into qwf.outbox (run_id, job_id, kind)
  select r.run_id, r.id, case r.status when 'failed' then 'failed' else 'asked' end
  from refused r;
  perform _qwf.add_waits(v_refused), _qwf.announce_trouble(v_refused);
  perform _qwf.wake_for_limit(l.name, count(*)::int)
  from unnest(p_picked) p
  join qwf.jobs j on j.id = p.id
  join qwf.limits l on l.name in (j.limit_by, 'queue:' || j.queue)
  where p.error is not null
  group by l.name;
  return array(
    select p from unnest(p_picked) p where p.error is null);
end $$;

commit;
