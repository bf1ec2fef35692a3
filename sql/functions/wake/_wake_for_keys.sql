-- Deploy qwf:functions/wake/_wake_for_keys
-- Purpose: Wakes sleepers of the queues where jobs wait for keys that have got room.
-- Guarantees: Looks only at queues on which somebody sleeps, and at the first 4 bands of their
--   lines.
-- Notifies: as many sleepers of each such queue as there are keys, 16 at most.
-- Called by: _after_ends.

begin;

create function _qwf.wake_for_keys(p_places bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
  v_queue text;
  v_band bigint;
  v_waiting int;
begin
  for v_queue in select distinct s.queue from qwf.sleepers s loop
    v_band := null;
    for v_nth in 1..4 loop
      v_band := (select b.band from _qwf.next_band(v_queue, v_band) b);
      exit when v_band is null;
      select count(*) into v_waiting
      from (select distinct u from unnest(p_places) u limit 16) p (place)
      where (select true from qwf.jobs j  -- exists may be planned to read all of them
        where _qwf.line_of(j) = v_queue and _qwf.band_of(j) = v_band
          and j.limit_place = p.place and j.status in ('queued', 'running') limit 1);
      if v_waiting > 0 then
        perform _qwf.wake(v_queue, v_waiting);
        exit;
      end if;
    end loop;
  end loop;
end $$;

commit;
