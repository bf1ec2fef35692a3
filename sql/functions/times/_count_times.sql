-- Deploy qwf:functions/times/_count_times
-- Purpose: Returns how many times a schedule has from a time of it on, before an instant.
-- Guarantees: At most p_max, so that its cost is bounded.
-- Called by: _as_backfill, _record_missed.

begin;

create function _qwf.count_times(
  p_schedule qwf.schedules, p_from timestamptz, p_before timestamptz, p_max int)
returns int
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_time timestamptz := p_from;
  v_count int := 0;
begin
  while v_time < p_before and v_count < p_max loop
    v_count := v_count + 1;
    v_time := _qwf.next_fire(p_schedule, v_time);
  end loop;
  return v_count;
end $$;

commit;
