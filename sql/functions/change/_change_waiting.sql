-- Deploy qwf:functions/change/_change_waiting
-- Purpose: Changes those of some jobs that are queued or scheduled, and returns their ids.
-- Guarantees: Never waits: a job that is being claimed counts as no longer waiting. A null changes
--   nothing. A p_run_at in the future makes a job scheduled, one in the past makes it queued. With
--   p_run_next a job comes before all others in its queue until it is claimed, and a scheduled one
--   is due now. No call with its key and debounce moves it to later after that. A guarded node that
--   was never tried stays scheduled, as _promote_due opens it. Jobs that become queued get their
--   positions in the order of their ids. An empty p_limit_by takes a job out of its limit. A job
--   that waits holds nothing of a limit, so nothing is given back; the next claim counts. A job of
--   the engine stays in its queue: no worker could run it.
-- Locks: the jobs that are free, by id.
-- Notifies: sleepers of the queues.
-- Called by: change_job, change_jobs.

begin;

create function _qwf.change_waiting(
  p_jobs bigint[], p_priority int, p_queue text, p_run_at timestamptz, p_run_next boolean,
  p_limit_by text)
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_material = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := qwf.now();
  v_changed bigint[];
begin
  with free as materialized (
    select j.id, j.status, j.run_at, jsonb_build_object('priority', j.priority, 'queue', j.queue,
        'run_at', j.run_at, 'run_next', j.run_next, 'limit_by', j.limit_by) as old,
      j.status = 'scheduled' and j.guarded and j.attempt = 0 as unopened
    from qwf.jobs j
    where j.id = any (p_jobs)
      and j.status::text in ('queued', 'scheduled')  -- written so as not to use jobs_due_or_failed
      and (p_queue is null or coalesce(j.queue, '') not like 'qwf.%')
    order by j.id
    for no key update skip locked
  ), due as (
    select f.id, f.status, f.old, f.unopened, f.unopened or not p_run_next and coalesce(
      coalesce(p_run_at, case when f.status = 'scheduled' then f.run_at end) > v_now, false)
      as later
    from free f
  ), placed as materialized (
    select d.id, d.old, d.unopened, d.later,
      case when d.status = 'scheduled' and not d.later then _qwf.next_position() end as position
    from (select s.* from due s order by s.id) d
  ), changed as (
    update qwf.jobs j set
      priority = coalesce(p_priority, j.priority), run_next = j.run_next or p_run_next,
      queue = case when j.queue is null then null else coalesce(p_queue, j.queue) end,
      limit_by = nullif(coalesce(p_limit_by, j.limit_by), ''),
      limit_place = case when p_limit_by is null then j.limit_place
        else _qwf.limit_place(nullif(p_limit_by, '')) end,
      run_at = case when p.unopened and p_run_next then v_now
        else coalesce(p_run_at, j.run_at) end,
      options.start_by = case
        when p_run_at is null and not p_run_next then (j.options).start_by end,
      status = case when p.later then 'scheduled' else 'queued' end::qwf.job_status,
      -- a job that waits for its next attempt has lost its position, one at the front too
      position = case when not p.later then coalesce(p.position, j.position) end,
      -- kept if the job is moved to later: an element that had a slot of max_parallel keeps it
      queued_at = case when p.position is null then j.queued_at else v_now end
    from placed p
    where j.id = p.id
    returning j.id, j.run_id, j.queue, p.later, _qwf.difference(p.old, jsonb_build_object(
      'priority', j.priority, 'queue', j.queue, 'run_at', j.run_at, 'run_next', j.run_next,
      'limit_by', j.limit_by))
      as difference
  ), event as (
    insert into _qwf.event_log (at, run_id, job_id, kind, detail)
    select v_now, c.run_id, c.id, 'changed', c.difference
    from changed c where c.difference is not null
  ), woken as (
    select _qwf.wake(c.queue, count(*)::int) from changed c
    where not c.later or p_run_next
    group by c.queue
  )
  select coalesce(array_agg(c.id order by c.id), '{}') into v_changed
  from changed c
  where (select count(*) from woken) >= 0;  -- a CTE that is not read does not run
  return v_changed;
end $$;

commit;
