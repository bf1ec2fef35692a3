-- Deploy qwf:functions/lines/_read_line
-- Purpose: Returns what this session knows of the line of a queue, for a worker, and still holds;
--   null: nothing.
-- Guarantees: Only what the engine has written counts. What has lapsed is found again by _keep_line
--   if that found it, and forgotten otherwise: a session that knows nothing claims in two small
--   statements, see _pick_keyed.
-- Locks: the row of a key with a long past in hash_locks, tried only.
-- Called by: _walk_line.

begin;

create function _qwf.read_line(p_round _qwf.round) returns _qwf.line
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_round _qwf.round := p_round;
  v_key text := _qwf.floor_key(p_round.queue, (p_round.worker).id);
  v_line _qwf.line;
  v_rests boolean;
begin
  if current_setting('qwf.lines', true) <> '' then
    v_line := jsonb_populate_record(null::_qwf.line, _qwf.read_hints('qwf.lines') -> v_key);
    if (select max(f.position) from unnest(v_line.floors) f)
      > pg_sequence_last_value('qwf.job_position')
    then
      v_line := null;  -- somebody has set the sequence back
    end if;
    if v_line.rest > p_round.now + interval '1 s' then
      v_line.rest := null;  -- the clock was set back
    end if;
  end if;
  if v_line is null or v_line.until between p_round.now and p_round.now + interval '1 s' then
    return v_line;
  elsif v_line.bands is not null then  -- it has lapsed, or the clock was set back
    v_round.line := v_line;
    return _qwf.keep_line(v_round);
  end if;
  v_rests := coalesce(v_line.rest > p_round.now, false);
  if v_line.until is not null or not v_rests then
    v_line := case when v_rests then (null, null, null, null, v_line.rest)::_qwf.line end;
    perform _qwf.store_line(p_round.queue, (p_round.worker).id, v_line, p_round.now);
  end if;
  return v_line;
end $$;

commit;
