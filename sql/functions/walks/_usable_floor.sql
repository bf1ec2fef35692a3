-- Deploy qwf:functions/walks/_usable_floor
-- Purpose: Returns the floor that this session keeps of a queue for a worker, and finds the next
--   one if it has lapsed; null: none.
-- Guarantees: At most a second old: jobs that committed late, below it, are found by the next one.
-- Called by: _head_waited, _pick_next, _pick_warm.

begin;

create function _qwf.usable_floor(p_queue text, p_worker qwf.workers) returns _qwf.floor
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_floor _qwf.floor;
begin
  if current_setting('qwf.floors', true) <> '' then
    v_floor := _qwf.read_floor(_qwf.floor_key(p_queue, p_worker.id));
    if v_floor.until not between qwf.now() and qwf.now() + interval '1 s' then
      v_floor := _qwf.keep_floor(p_queue, p_worker);  -- lapsed, or the clock was set back
    end if;
  end if;
  return v_floor;
end $$;

commit;
