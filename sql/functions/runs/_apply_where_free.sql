-- Deploy qwf:functions/runs/_apply_where_free
-- Purpose: Applies events to the runs whose lock is free, and leaves the others in the outbox.
-- Guarantees: Never waits, as its caller holds jobs. Every event is applied or in the outbox when
--   the transaction commits: an error while applying rolls back to before the run locks, and the
--   events wait for drain_outbox.
-- Locks: runs (by id) that are free, their outbox events, jobs of those runs.
-- Called by: _end_attempts.

begin;

create function _qwf.apply_where_free(p_events _qwf.event[]) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_locked bigint[];
  v_left _qwf.event[] := p_events;
  v_error text;
begin
  if p_events = '{}' then
    return '{}'::bigint[];
  end if;
  begin
    v_locked := _qwf.lock_runs(array(select distinct e.run_id from unnest(p_events) e), false);
    perform _qwf.apply_events(
      _qwf.take_events(v_locked)
      || array(
        select (e.run_id, e.job_id, e.kind)::_qwf.event from unnest(p_events) e
        where e.run_id = any (v_locked)));
    v_left := array(
      select (e.run_id, e.job_id, e.kind)::_qwf.event from unnest(p_events) e
      where e.run_id <> all (v_locked));
  exception
    -- a statement timeout is also an error of the fan-out only
    when others or query_canceled then
      v_error := sqlstate || ' ' || sqlerrm;
  end;
  if v_left = '{}' then
    return '{}'::bigint[];
  end if;
  insert into qwf.outbox (run_id, job_id, kind, error)
  select e.run_id, e.job_id, e.kind, v_error from unnest(v_left) e;
  return array(select distinct e.run_id from unnest(v_left) e);
end $$;

commit;
