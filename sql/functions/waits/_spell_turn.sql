-- Deploy qwf:functions/waits/_spell_turn
-- Purpose: Says at which turn a repeat is, by its last turn, and when the next one starts; without
--   a place, when a job starts.
-- Called by: what tells people about a run.

begin;

create function _qwf.spell_turn(
  p_place int, p_max jsonb, p_status qwf.job_status, p_run_at timestamptz)
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_seconds bigint := ceil(greatest(extract(epoch from p_run_at - qwf.now()), 0));
  v_wait text := case
    when v_seconds < 100 then v_seconds || ' s'
    when v_seconds < 36000 then v_seconds / 60 || ' min'
    when v_seconds < 172800 then v_seconds / 3600 || ' h'
    else v_seconds / 86400 || ' days' end;
begin
  return case
    when p_place is null then 'starts in ' || v_wait
    when p_status = 'scheduled' and p_place = 0 then 'starts in ' || v_wait
    when p_status = 'scheduled' then format('turn %s of %s, next in %s', p_place, p_max, v_wait)
    when p_status = 'completed' then format('done after %s of %s turns', p_place + 1, p_max)
    else format('turn %s of %s', p_place + 1, p_max) end;
end $$;
call _qwf.allow('_qwf.spell_turn', 'qwf_viewer');

commit;
