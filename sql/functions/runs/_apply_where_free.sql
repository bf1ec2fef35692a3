-- Deploy qwf:functions/runs/_apply_where_free
-- Purpose: Applies events to the runs whose lock is free, and leaves the others in the outbox.
-- Guarantees: Never waits, as its caller holds jobs. Every event is applied or in the outbox when
--   the transaction commits: an error while applying rolls back to before the run locks, and the
--   events wait for drain_outbox. Returns the runs for which something waits there.
-- Locks: runs (by id) that are free, their outbox events, jobs of those runs.
-- Called by: _after_ends.

begin;

create function _qwf.apply_where_free(p_events _qwf.event[]) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_locked bigint[];
  v_events _qwf.event[] := p_events;
  v_left _qwf.event[] := '{}';
  v_error text;
  v_waits boolean;
begin
  begin
    v_locked := array(
      select r.id from qwf.runs r
      where r.id = any (array(select e.run_id from unnest(p_events) e))
      order by r.id
      for no key update skip locked);
    if cardinality(v_locked) < cardinality(p_events) then  -- else each is about another run
      v_left := array(select e from unnest(p_events) e where e.run_id <> all (v_locked));
      v_events := array(select e from unnest(p_events) e where e.run_id = any (v_locked));
    end if;
    if (select true from qwf.outbox o where o.run_id = any (v_locked) limit 1) then
      v_events := _qwf.take_events(v_locked) || v_events;
    end if;
    v_waits := _qwf.apply_events(v_events);
  exception
    -- a statement timeout is also an error of the fan-out only
    when others or query_canceled then
      v_left := p_events;
      v_error := sqlstate || ' ' || sqlerrm;
  end;
  if v_left = '{}' then
    return case when v_waits then v_locked end;
  end if;
  insert into qwf.outbox (run_id, job_id, kind, error)
  select e.run_id, e.job_id, e.kind, v_error from unnest(v_left) e;
  return array(select distinct e.run_id from unnest(v_left) e);
end $$;

commit;
