-- Deploy qwf:functions/shared/_raise_no_such_run
-- Purpose: Raises QW001 with a hint where runs are listed.
-- Raises: QW001, always.
-- Called by: cancel_run, context_notes, retry_plan, retry_run, run_graph, run_status.

begin;

create function _qwf.raise_no_such_run(p_run_id bigint) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using errcode = 'QW001', message = 'no such run',
    detail = format('run %s', p_run_id),
    hint = 'ended runs are deleted after their retention; '
      'who has the role qwf_viewer lists runs: select * from qwf.run_overview';
end $$;

commit;
