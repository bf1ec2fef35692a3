-- Deploy qwf:functions/finish/_repeated
-- Purpose: Whether this very report was taken before.
-- Guarantees: Looks at the attempts of that one job; a token ends one attempt.
-- Called by: _answer_reports.

begin;

create function _qwf.repeated(p_report _qwf.report) returns boolean
language sql stable
as $$
  select exists (
    select from qwf.job_attempts a join qwf.jobs j on j.id = a.job_id
    where a.job_id = p_report.job_id and a.token = p_report.token
      and a.outcome = p_report.outcome and a.error is not distinct from p_report.error
      and (j.attempt > a.attempt or j.status <> 'completed'
        or j.output is not distinct from p_report.output))
$$;

commit;
