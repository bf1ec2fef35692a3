-- Deploy qwf:functions/claim/_floor
-- Purpose: Where this session may begin to look for queued jobs of a queue.
-- Guarantees: At most a second old: what committed late, below it, is found by then.
-- Called by: _pick_next.

begin;

create function _qwf.floor(p_queue text, p_worker qwf.workers, p_now timestamptz)
returns _qwf.floor
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_floor _qwf.floor := jsonb_populate_record(
    null::_qwf.floor,
    current_setting('qwf.floors')::jsonb -> _qwf.floor_key(p_queue, p_worker.id));
begin
  if v_floor.until not between qwf.now() and qwf.now() + interval '1 s' then
    return _qwf.keep_floor(p_queue, p_worker, p_now);  -- far ahead: the clock has been set back
  end if;
  return v_floor;
end $$;

commit;
