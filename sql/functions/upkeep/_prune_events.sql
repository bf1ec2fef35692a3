-- Deploy qwf:functions/upkeep/_prune_events
-- Purpose: Deletes old events that belong to no job and no run, such as a host switched off.
-- Guarantees: Reads only the oldest events, along an index.
-- Called by: prune.

begin;

create function _qwf.prune_events(p_max int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_old timestamptz := qwf.now() - (select s.retention from qwf.settings s);
  v_count int;
begin
  delete from qwf.job_events e
  where e.at < v_old
    and e.id = any (array(
      select o.id from qwf.job_events o
      where o.job_id is null and o.run_id is null
      order by o.run_id, o.id
      limit p_max));
  get diagnostics v_count = row_count;
  return v_count;
end $$;

commit;
