-- Deploy qwf:functions/finish/_first_reports
-- Purpose: Of two reports about one attempt the first counts.
-- Guarantees: By job id, which is the order of locking.
-- Called by: _lock_attempts.

begin;

create function _qwf.first_reports(p_reports _qwf.report[]) returns setof _qwf.report
language sql immutable
as $$
  select distinct on (u.job_id, u.token)
    u.job_id, u.token, u.outcome, u.output, u.error, u.detail
  from unnest(p_reports) with ordinality u (job_id, token, outcome, output, error, detail, ord)
  order by u.job_id, u.token, u.ord
$$;

commit;
