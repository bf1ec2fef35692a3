-- Deploy qwf:functions/health/_doctor_reports
-- Purpose: Finds boxes with ended bodies that they cannot report, as the server refuses it.
-- Called by: _doctor_findings.

begin;

create function _qwf.doctor_reports() returns setof _qwf.finding
language sql stable
as $$
  select 'problem', 'box ' || u.host,
    format('%s has %s that it cannot report: %s', u.host,
      case when u.reports = 1 then '1 ended body' else u.reports || ' ended bodies' end, u.why),
    'mend or drop what refuses them, often a trigger of another program on qwf.jobs: then they are '
      'reported within 15 s. Do not stop the agent before that: the bodies would run again'
  from _qwf.unreported() u
  order by u.host
$$;

commit;
