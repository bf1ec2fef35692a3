-- Deploy qwf:functions/claim/_runs_alone
-- Purpose: True if a job has been given back three times because a process ended that ran other
--   jobs, too: then it may be what ends them, and runs in a process without others.
-- Guarantees: Reads the attempts of one job. Claim asks about jobs with three attempts or more.
-- Called by: claim.

begin;

create function _qwf.runs_alone(p_job bigint)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select count(*) >= 3
  from qwf.job_attempts a
  where a.job_id = p_job and a.outcome = 'released' and a.detail ->> 'reason' = 'neighbour'
$$;

commit;
