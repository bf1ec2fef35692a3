-- Deploy qwf:functions/upkeep/_tick_part
-- Purpose: Runs one part of tick, named after what it reports.
-- Guarantees: Bounded. A part that reaches its bound returns a hundred or more, except pruning,
--   which can wait.
-- Locks: as the part does.
-- Called by: tick.

begin;

create function _qwf.tick_part(p_part text) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return case p_part
    when 'reclaimed' then _qwf.rest_when_idle(p_part)
    when 'promoted' then _qwf.promote_due()
    when 'served' then _qwf.serve_runs(5000)
    when 'fired' then _qwf.fire_schedules()
    when 'allowed' then _qwf.redate_starts() + _qwf.wake_for_starts() + _qwf.try_held_tasks()
    when 'cancelled' then _qwf.settle_cancel_requests()
    when 'answered' then _qwf.rest_when_idle(p_part)
    when 'expired' then
      _qwf.expire_jobs() + _qwf.expire_inputs() + _qwf.expire_inputs(p_kind => 'signal')
    when 'overdue' then _qwf.fail_overdue_runs()
    when 'drained' then qwf.drain_outbox()
    when 'woken' then _qwf.rest_when_idle(p_part)
    when 'forgotten' then _qwf.forget_sleepers() + _qwf.forget_keys() + _qwf.find_floors()
    when 'rolled_up' then _qwf.roll_up_statistics()
    when 'recorded' then _qwf.record_minutes()
    when 'judged' then _qwf.judge()
    when 'numbered' then _qwf.number_and_match()
    when 'learned' then _qwf.learn_runs()
    when 'pruned' then _qwf.rest_when_idle(p_part)
  end;
end $$;

commit;
