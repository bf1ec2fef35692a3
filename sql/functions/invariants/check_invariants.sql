-- Deploy qwf:functions/invariants/check_invariants
-- Purpose: Returns the violated invariants of the database.
-- Guarantees: No row at any moment, under any load: one statement, so one snapshot. Reads all
--   tables: do not call it in a loop. With running_only it reads the running jobs and the slots of
--   limits alone, however many jobs there are.

begin;

create function qwf.check_invariants(running_only boolean default false)
returns table (invariant text, subject text, detail text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
begin
  if check_invariants.running_only then
    return query select * from _qwf.running_invariants();
    return;
  end if;
  return query
  select * from _qwf.run_invariants()
  union all
  select * from _qwf.child_invariants()
  union all
  select * from _qwf.job_invariants()
  union all
  select * from _qwf.row_invariants(null)
  union all
  select * from _qwf.limit_invariants()
  union all
  select * from _qwf.event_invariants()
  union all
  select * from _qwf.kept_invariants()
  union all
  select * from _qwf.graph_invariants()
  union all
  select * from _qwf.schedule_invariants()
  union all
  select * from _qwf.signal_invariants()
  union all
  select * from _qwf.alert_invariants()
  union all
  select * from _qwf.late_invariants();
end $$;
comment on function qwf.check_invariants is
  'Violated invariants: which, of which job, run, limit, schedule or sequence, and the numbers. A '
  'healthy database has none at any moment. running_only: of running jobs and limits alone, for '
  'pages that look again and again.';
call _qwf.allow('qwf.check_invariants', 'qwf_viewer');

commit;
