-- Deploy qwf:functions/upkeep/_roll_up_statistics
-- Purpose: Rolls up the figures of ended attempts every ten seconds.
-- Guarantees: Stops after 300 ms or 5000 rows, and then goes on soon. Never uses more than a tenth
--   of the time, however many dead rows an old snapshot keeps. Ignores a hint that a clock set
--   back has left in the future, or whose work was rolled back.
-- Called by: _tick_part.

begin;

create function _qwf.roll_up_statistics() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_batch constant int := 200;  -- of 200 tasks each takes about 100 ms
  v_now timestamptz := qwf.now();
  v_due timestamptz := (select to_timestamp(n.last_value / 1000.0) from qwf.next_roll_up n);
  v_pause interval;
  v_count int := 0;
  v_last int;
begin
  if v_now < v_due and v_due < v_now + interval '5 min'
    and _qwf.has_committed((select x.last_value from qwf.last_roll_up_xid x))
  then
    return 0;
  end if;
  loop
    v_last := _qwf.roll_up_counts(v_batch);
    v_count := v_count + v_last;
    exit when v_last < v_batch or v_count >= 5000 or qwf.now() - v_now > interval '300 ms';
  end loop;
  v_pause := greatest((qwf.now() - v_now) * 9,
    case when v_last < v_batch then interval '10 s' else interval '0 s' end);
  perform setval('qwf.last_roll_up_xid', pg_current_xact_id()::text::bigint);
  perform setval('qwf.next_roll_up',
    (extract(epoch from v_now + least(v_pause, interval '4 min')) * 1000)::bigint);
  return v_count;
end $$;

commit;
