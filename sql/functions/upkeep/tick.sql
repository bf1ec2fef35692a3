-- Deploy qwf:functions/upkeep/tick
-- Purpose: Runs the periodic chores: reclaims lapsed leases, queues what is due, starts runs that
--   wait in line, fires schedules, wakes sleepers for jobs that the rate of a limit allows again,
--   answers steps with signals, expires jobs and inputs, drains leftover events, wakes sleepers
--   whose wake-up was lost, rolls up statistics, writes the minutes of hosts and queues, looks for
--   what is late, gives events their numbers, learns what is usual, prunes.
-- Guarantees: Safe to call from anywhere, any number of times at once: a lock that is only
--   tried lets one caller do the work. If no tick has finished for ten seconds (a caller hangs in a
--   transaction), the next one goes on without the lock. Every part is bounded, and one that fails
--   does not stop the others. With max_age a whole fleet does the work of one tick: if everything
--   was done within max_age, a call only queues, fires and allows what has come due since, answers
--   with signals, and gives numbers. It knows that from a hint that no open transaction holds
--   back; the hint counts only if its time is in the past and its tick has committed, and is not
--   written if a part may have left some of its work. When the rate of a limit allows the next
--   start is told only to who has run this tick: else the whole fleet would tick for each start.
-- Locks: tick, tried only; then as the parts do.
-- Called by: agents about once a second, qwf tick, cron.

begin;

create function qwf.tick(max_age interval default null, fire boolean default true)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_parts text[] := array['reclaimed', 'promoted', 'served', 'fired', 'allowed', 'answered',
    'cancelled', 'expired', 'overdue', 'drained', 'woken', 'forgotten', 'rolled_up', 'recorded',
    'judged', 'numbered', 'learned', 'pruned'];
  v_complete_at timestamptz := _qwf.last_complete_tick(tick.max_age);
  v_fresh boolean := v_complete_at is not null;
  v_now timestamptz := qwf.now();
  v_due_s numeric;
  v_locked boolean;
  v_ran boolean;
  v_done jsonb := jsonb_build_object();
  v_part text;
  v_count int;
  v_most int := 0;
begin
  if v_fresh then
    v_due_s := _qwf.next_due_s(v_complete_at);
    if v_due_s is distinct from 0 and not (  -- 10 ms: the clock of an agent may be a little early
      select w.last_value between 1 and extract(epoch from v_now) * 1000 + 10
      from qwf.next_start_wake w)
    then
      return jsonb_build_object('ran', false, 'next_due_s', v_due_s);
    end if;
    v_parts := array['promoted', 'served', 'fired', 'allowed', 'answered', 'numbered'];
  end if;
  v_parts := array_remove(v_parts, case when not tick.fire then 'fired' end);
  v_locked := _qwf.try_lock('tick');
  v_ran := v_locked
    or (select l.last_value from qwf.last_tick l)
      < (extract(epoch from v_now) * 1000)::bigint - 10000;
  if v_ran then
    foreach v_part in array v_parts loop
      begin
        v_count := _qwf.tick_part(v_part);
        v_most := greatest(v_most, v_count);
        v_done := v_done || jsonb_build_object(v_part, v_count);
      exception
        when others or query_canceled then
          raise warning using message = format('tick: %s failed', v_part),
            detail = sqlstate || ' ' || sqlerrm;
          v_done := v_done || jsonb_build_object('errors',
            coalesce(v_done -> 'errors', '{}') || jsonb_build_object(v_part, sqlerrm));
      end;
    end loop;
    if not v_fresh and v_most < 100 then  -- no part has reached its bound
      perform setval('qwf.last_complete_tick_xid', pg_current_xact_id()::text::bigint);
      perform setval('qwf.last_complete_tick', floor(extract(epoch from v_now) * 1000)::bigint);
    end if;
  end if;
  if v_locked then
    perform setval('qwf.last_tick', (extract(epoch from qwf.now()) * 1000)::bigint);
  end if;
  v_due_s := least(_qwf.next_due_s(v_now), case when v_ran then _qwf.next_start_s() end);
  if (v_done ->> 'numbered')::int >= 100 then  -- more events wait for a number
    v_due_s := 0;
  end if;
  return v_done || jsonb_build_object('ran', v_ran, 'next_due_s', v_due_s);
end $$;
comment on function qwf.tick is
  'Reclaims, promotes, fires schedules, expires, drains and prunes, each bounded; returns what was '
  'done, and in how many seconds the next job, schedule or start under a rate is due. If a tick '
  'has done everything within max_age, it only queues, fires and allows what is due. fire => false '
  'leaves schedules alone, as tests do. QW005 for an invalid age.';
call _qwf.allow('qwf.tick', 'qwf_worker');

commit;
