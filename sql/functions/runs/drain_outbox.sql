-- Deploy qwf:functions/runs/drain_outbox
-- Purpose: Applies the events that wait in the outbox.
-- Guarantees: An event is deleted in the transaction that applies it. A run that somebody holds is
--   left to the next call and holds up no other, however many events wait for it. When a batch
--   fails, its runs are tried one by one.
-- Locks: runs (by id, those that are free), their events, jobs of those runs.
-- Notifies: as _apply_events.
-- Raises: QW005 for a negative bound.
-- Called by: tick, agents whose report was answered pending.

begin;

create function qwf.drain_outbox(max_events int default 100) returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_runs bigint[];
  v_events _qwf.event[];
  v_run bigint;
  v_count int := 0;
begin
  perform _qwf.check_count('max_events', drain_outbox.max_events);
  v_runs := array(
    select r.id
    from (
      select distinct o.run_id
      from qwf.outbox o
      where o.poisoned_at is null and (o.next_try_at is null or o.next_try_at <= v_now)
    ) due
    join qwf.runs r on r.id = due.run_id
    order by r.id
    limit drain_outbox.max_events
    for no key update of r skip locked);
  if cardinality(v_runs) = 0 then
    return 0;
  end if;
  begin
    v_events := _qwf.take_events(v_runs);
    perform _qwf.apply_events(v_events);
    return cardinality(v_events);
  exception
    when query_canceled then  -- more than one statement can do: in turn, each run in its own
      perform _qwf.split_late_batch(v_runs);
      return 0;
    when others then  -- one of them is bad: find out which
      foreach v_run in array v_runs loop
        v_count := v_count + _qwf.drain_run(v_run);
      end loop;
      return v_count;
  end;
end $$;
comment on function qwf.drain_outbox is
  'Applies the pending events of at most max_events runs and returns how many; safe to call from '
  'anywhere, at once.';
call _qwf.allow('qwf.drain_outbox', 'qwf_worker');

commit;
