-- Deploy qwf:functions/_floor
-- Purpose: Where this session may begin to look for queued jobs of a queue.
-- Guarantees: At most a second old: what committed late, below it, is found by then.
-- Called by: _pick_next.

begin;

create function qwf._floor(p_queue text, p_worker qwf.workers, p_now timestamptz)
returns qwf.floor
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_floor qwf.floor := jsonb_populate_record(
    null::qwf.floor,
    current_setting('qwf.floors')::jsonb -> qwf._floor_key(p_queue, p_worker.id));
begin
  if v_floor.until not between qwf.now() and qwf.now() + interval '1 s' then
    return qwf._keep_floor(p_queue, p_worker, p_now);  -- far ahead: the clock has been set back
  end if;
  return v_floor;
end $$;
revoke all on function qwf._floor from public;

commit;
