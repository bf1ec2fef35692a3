-- Deploy qwf:functions/wake/_next_start_s
-- Purpose: Returns the seconds until sleepers should next be woken because rates of limits allow
--   jobs that wait to start, and stores that time as a hint: the tick is due then; null: never.
-- Guarantees: Never 0, because what was due has just been done.
-- Called by: tick.

begin;

create function _qwf.next_start_s() returns numeric
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();
  v_at timestamptz := _qwf.next_start_at(v_now);
  v_ms bigint := 0;
begin
  if v_at is not null then
    v_at := greatest(v_at, v_now + interval '10 ms');
    v_ms := floor(extract(epoch from v_at) * 1000);
  end if;
  perform setval('qwf.next_start_wake', v_ms) from qwf.next_start_wake w where w.last_value <> v_ms;
  return extract(epoch from v_at - v_now);
end $$;

commit;
