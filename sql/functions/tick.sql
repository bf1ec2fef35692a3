-- Deploy qwf:functions/tick
-- requires: schema/clock
-- requires: schema/jobs
-- requires: functions/reclaim
-- requires: functions/promote_due
-- requires: functions/fire_schedules
-- requires: functions/prune
-- requires: functions/_expire_jobs
-- requires: functions/expire_inputs
-- requires: functions/_fail_overdue_runs
-- requires: functions/_next_due_s
-- requires: functions/drain_outbox
-- requires: functions/_settle_cancel_requests
-- requires: functions/_forget_sleepers
-- requires: functions/_keep_statistics
-- requires: functions/now
-- Purpose: Does what time brings about: reclaims lapsed leases, queues what is due, fires
--   schedules, expires, drains leftover events, folds statistics, prunes.
-- Guarantees: Safe to call from anywhere, any number of times at once: an advisory try-lock lets
--   one caller do the work. When no tick has finished for ten seconds (a caller hangs in a
--   transaction), the next goes on without it. Every part is bounded, and one that fails does not
--   stop the others.
-- Locks: advisory (7178, 0), tried only; then as the parts do.
-- Called by: agents about once a second, qwf tick, cron.

begin;

create function qwf.tick() returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();
  v_ran boolean;
  v_locked boolean;
  v_done jsonb := jsonb_build_object();
  v_part text;
  v_count int;
begin
  v_locked := pg_try_advisory_xact_lock(7178, 0);
  v_ran := v_locked
    or (select l.last_value from qwf.last_tick l)
      < (extract(epoch from v_now) * 1000)::bigint - 10000;
  if v_ran then
    foreach v_part in array
      array['reclaimed', 'promoted', 'fired', 'cancelled', 'expired', 'overdue', 'drained',
        'forgotten', 'folded', 'pruned']
    loop
      begin
        case v_part
          when 'reclaimed' then select count(*) into v_count from qwf.reclaim();
          when 'promoted' then v_count := qwf.promote_due();
          when 'fired' then v_count := qwf.fire_schedules();
          when 'cancelled' then v_count := qwf._settle_cancel_requests();
          when 'expired' then v_count := qwf._expire_jobs() + qwf.expire_inputs();
          when 'overdue' then v_count := qwf._fail_overdue_runs();
          when 'drained' then v_count := qwf.drain_outbox();
          when 'forgotten' then v_count := qwf._forget_sleepers();
          when 'folded' then v_count := qwf._keep_statistics();
          when 'pruned' then select sum(p.value::int) into v_count from jsonb_each(qwf.prune()) p;
        end case;
        v_done := v_done || jsonb_build_object(v_part, v_count);
      exception
        when others or query_canceled then
          raise warning using message = format('tick: %s failed', v_part),
            detail = sqlstate || ' ' || sqlerrm;
          v_done := v_done || jsonb_build_object('errors',
            coalesce(v_done -> 'errors', '{}') || jsonb_build_object(v_part, sqlerrm));
      end;
    end loop;
  end if;
  if v_locked then
    perform setval('qwf.last_tick', (extract(epoch from qwf.now()) * 1000)::bigint);
  end if;
  return v_done || jsonb_build_object('ran', v_ran, 'next_due_s', qwf._next_due_s());
end $$;
comment on function qwf.tick() is
  'Reclaims, promotes, fires schedules, expires, drains and prunes, each bounded; returns what '
  'was done, and in how many seconds the next job or schedule is due.';
revoke all on function qwf.tick() from public;
call qwf._allow('qwf.tick()', 'qwf_worker');

commit;
