-- Deploy qwf:functions/maps/_note_progress
-- Purpose: Writes how much of a map has ended.
-- Locks: the progress of the map, of a run the caller has locked.
-- Called by: _expand_map, _next_turn, _resume_maps, _settle_maps.

begin;

create function _qwf.note_progress(p_map bigint, p_fraction double precision) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into qwf.job_progress (job_id, attempt, fraction, at)
  values (p_map, 0, p_fraction, qwf.now())
  on conflict (job_id) do update set fraction = excluded.fraction, at = excluded.at;
end $$;

commit;
