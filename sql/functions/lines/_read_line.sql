-- Deploy qwf:functions/lines/_read_line
-- Purpose: Returns what this session knows of the line of a queue, for a worker; null: nothing.
-- Guarantees: Only what the engine has written counts. Bands and skips may have lapsed.
-- Called by: _walk_line.

begin;

create function _qwf.read_line(p_queue text, p_worker text, p_now timestamptz)
returns _qwf.line
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_line _qwf.line;
begin
  if current_setting('qwf.lines', true) <> '' then
    v_line := jsonb_populate_record(
      null::_qwf.line, _qwf.read_hints('qwf.lines') -> _qwf.floor_key(p_queue, p_worker));
    if (select max(f.position) from unnest(v_line.floors) f)
      > pg_sequence_last_value('qwf.job_position')
    then
      v_line := null;  -- somebody has set the sequence back
    end if;
    if v_line.rest > p_now + interval '1 s' then
      v_line.rest := null;  -- the clock was set back
    end if;
  end if;
  return v_line;
end $$;

commit;
