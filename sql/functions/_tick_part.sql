-- Deploy qwf:functions/_tick_part
-- Purpose: Does one part of what tick does, named by what it reports.
-- Guarantees: Bounded; a part that reaches its bound says a hundred or more, but for pruning,
--   which is in no hurry.
-- Locks: as the part does.
-- Called by: tick.

begin;

create function qwf._tick_part(p_part text) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return case p_part
    when 'reclaimed' then qwf._look_sparingly(p_part)
    when 'promoted' then qwf.promote_due()
    when 'fired' then qwf.fire_schedules()
    when 'cancelled' then qwf._settle_cancel_requests()
    when 'expired' then qwf._expire_jobs() + qwf.expire_inputs()
    when 'overdue' then qwf._fail_overdue_runs()
    when 'drained' then qwf.drain_outbox()
    when 'woken' then qwf._look_sparingly(p_part)
    when 'forgotten' then qwf._forget_sleepers()
    when 'folded' then qwf._keep_statistics()
    when 'pruned' then (select sum(p.value::int) from jsonb_each(qwf.prune()) p)
  end;
end $$;
revoke all on function qwf._tick_part from public;

commit;
