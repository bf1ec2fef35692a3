-- Deploy qwf:functions/erase/_runs_of_jobs
-- Purpose: Returns the runs of jobs: those whose nodes they are, and those that ran for them.
-- Guarantees: Such a run may have no nodes: it was cancelled in line, or its workflow is empty.
-- Called by: _check_ended, _erase_events, _erase_history, _erase_jobs, erase.

begin;

create function _qwf.runs_of_jobs(p_jobs bigint[]) returns bigint[]
language sql stable
set enable_seqscan = off
as $$
  select array(
    select j.run_id from qwf.jobs j where j.id = any (p_jobs) and j.run_id is not null
    union
    select r.id from qwf.runs r where r.parent_id = any (p_jobs))
$$;

commit;
