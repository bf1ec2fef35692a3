-- Deploy qwf:functions/mending/_drop_later_turns
-- Purpose: Deletes the turns of a repeat that came after the one that is named: they began with
--   what that one gave.
-- Locks: the caller has locked the run, which is over.
-- Called by: _resume_maps.

begin;

create function _qwf.drop_later_turns(p_map bigint, p_from_node text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_named int := (
    select j.element from qwf.jobs j where j.parent_id = p_map and j.node_id = p_from_node);
  v_later bigint[];
begin
  if v_named is null then
    return;
  end if;
  v_later := array(
    select j.id from qwf.jobs j where j.parent_id = p_map and j.element > v_named);
  perform _qwf.delete_runs_below(v_later), _qwf.delete_jobs(v_later);
  update qwf.jobs m set elements = v_named + 1 where m.id = p_map;
end $$;

commit;
