-- Verify qwf:views/run_overview

begin;

select id, workflow, version, status, project, done, total, failed, running, waiting, seconds,
  created_at, deadline_in, error from qwf.run_overview where false;

rollback;
