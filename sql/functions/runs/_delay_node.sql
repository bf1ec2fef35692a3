-- Deploy qwf:functions/runs/_delay_node
-- Purpose: Schedules a node for the end of its delay.
-- Guarantees: Null, and nothing changes, if there is nothing to wait for. The node counts as active
--   while it waits. No timer of its own: _promote_due opens it.
-- Locks: the job, of a run the caller has locked.
-- Called by: _open_guarded.

begin;

create function _qwf.delay_node(p_job bigint, p_end _qwf.resolution) returns _qwf.opened
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_opened _qwf.opened;
begin
  if (p_end.value #>> '{}')::timestamptz > qwf.now() then
    update qwf.jobs j set status = 'scheduled', run_at = (p_end.value #>> '{}')::timestamptz
    where j.id = p_job
    returning j.id, j.run_id, j.status into v_opened.id, v_opened.run_id, v_opened.status;
  end if;
  return v_opened;
end $$;

commit;
