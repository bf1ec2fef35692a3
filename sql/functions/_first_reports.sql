-- Deploy qwf:functions/_first_reports
-- Purpose: Of two reports about one attempt the first counts.
-- Guarantees: By job id, which is the order of locking.
-- Called by: _hold.

begin;

create function qwf._first_reports(p_reports qwf.report[]) returns setof qwf.report
language sql immutable
as $$
  select distinct on (u.job_id, u.token)
    u.job_id, u.token, u.outcome, u.output, u.error, u.detail
  from unnest(p_reports) with ordinality u (job_id, token, outcome, output, error, detail, ord)
  order by u.job_id, u.token, u.ord
$$;
revoke all on function qwf._first_reports from public;

commit;
