-- Deploy qwf:functions/runs/_fail_overdue_runs
-- Purpose: Fails runs that passed their deadline.
-- Guarantees: The remaining nodes stop as after a failed node, and clean-up nodes run: the drain of
--   the same tick applies the stop event written here. A run that is hard to stop delays no other.
--   Bounded; a locked run is left for the next call. Reads overdue runs alone, however many are
--   live.
-- Locks: overdue runs that are free, the longest overdue first.
-- Called by: _tick_part.

begin;

create function _qwf.fail_overdue_runs() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_run record;
  v_count int := 0;
begin
  for v_run in
    select r.id, r.deadline_at from qwf.runs r
    where r.deadline_at <= v_now and r.ending is null
      and r.status in ('queued', 'running', 'awaiting_input')
    order by r.deadline_at
    limit 100
    for no key update skip locked
  loop
    perform _qwf.end_run(
      v_run.id, 'failed', format('the deadline passed at %s', v_run.deadline_at));
    insert into _qwf.event_log (at, run_id, kind, detail)
    values (v_now, v_run.id, 'deadline',
      jsonb_build_object('deadline_at', v_run.deadline_at));
    insert into qwf.outbox (run_id, kind) values (v_run.id, 'stop');
    v_count := v_count + 1;
  end loop;
  return v_count;
end $$;

commit;
