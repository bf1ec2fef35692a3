-- Deploy qwf:functions/runs/drain_outbox
-- Purpose: Applies the events that wait in the outbox.
-- Guarantees: An event is deleted in the transaction that applies it. A locked run is left to the
--   next call and delays no other, however many events wait for it. If a batch fails, each of its
--   runs is tried by itself. Runs count as too slow only if their events took two seconds or more:
--   who cancels the statement sooner, or sets a shorter statement_timeout, stops only this call.
-- Locks: runs (by id) that are free, their events, jobs of those runs.
-- Notifies: as _apply_events.
-- Raises: QW005 for a negative bound; 57014 if the statement is cancelled within two seconds.
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
  v_began timestamptz := v_now;
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
    when query_canceled then
      if qwf.now() - v_began < interval '2 s' then
        raise;
      end if;
      -- too much for one statement: halve it
      perform _qwf.split_late_batch(v_runs);
      return 0;
    when others then  -- one run fails: apply each by itself
      foreach v_run in array v_runs loop
        v_began := qwf.now();
        begin
          v_events := _qwf.take_events(array[v_run]);
          perform _qwf.apply_events(v_events);
          v_count := v_count + cardinality(v_events);
        exception
          when query_canceled then  -- from here on the statement has no time limit
            if qwf.now() - v_began >= interval '2 s' then
              perform _qwf.split_late_batch(array[v_run]);
            end if;
            return v_count;
          when others then
            perform _qwf.retry_or_poison_events(v_run, sqlstate, sqlerrm);
        end;
      end loop;
      return v_count;
  end;
end $$;
comment on function qwf.drain_outbox is
  'Applies the pending events of at most max_events runs and returns how many events it applied; '
  'safe to call from any session, at the same time as others.';
call _qwf.allow('qwf.drain_outbox', 'qwf_worker');

commit;
