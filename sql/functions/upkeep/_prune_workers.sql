-- Deploy qwf:functions/upkeep/_prune_workers
-- Purpose: Deletes workers whose last heartbeat is older than the retention.
-- Guarantees: They hold no job: no lease is that long.
-- Locks: workers that nobody else has locked.
-- Called by: prune.

begin;

create function _qwf.prune_workers(p_max int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_old timestamptz := qwf.now() - (select s.retention from qwf.settings s);
  v_count int;
begin
  delete from qwf.workers w
  using (
    select g.id from qwf.workers g
    where g.last_seen < v_old
    limit p_max
    for update of g skip locked
  ) old
  where w.id = old.id;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

commit;
