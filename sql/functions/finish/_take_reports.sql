-- Deploy qwf:functions/finish/_take_reports
-- Purpose: Checks reports, turns an output that cannot be stored into a failure that says so, and
--   ends the attempts.
-- Guarantees: The same report always reads the same, so that a repeated one is recognised. A
--   missing token counts as a stale one: lost.
-- Locks: as _end_attempts.
-- Notifies: as _end_attempts.
-- Raises: QW005 for a report without a job or a known outcome, or whose detail is not an object;
--   nothing is written then.
-- Called by: finish, finish_many.

begin;

create function _qwf.take_reports(p_reports _qwf.report[]) returns setof qwf.report_verdict
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings qwf.settings;
  v_reports _qwf.report[];
  v_valid boolean;
begin
  select s.* into v_settings from qwf.settings s;
  select coalesce(array_agg((
      r.job_id, r.token, case when k.problem is null then r.outcome else 'fatal' end,
      case when r.outcome = 'completed' and k.problem is null
        then coalesce(nullif(r.output, 'null'), '{}') end,
      _qwf.clip(coalesce(k.problem, r.error), v_settings.max_error_bytes),
      coalesce(nullif(r.detail, 'null'), '{}'))::_qwf.report), '{}'),
    coalesce(bool_and(coalesce(r.job_id >= 0 and r.outcome in (
        'completed', 'error', 'fatal', 'tempfail', 'lost', 'released', 'cancelled')
      and coalesce(jsonb_typeof(r.detail), 'null') in ('object', 'null'), false)), true)
    into v_reports, v_valid
  from unnest(p_reports) r
  cross join lateral (select case
    when r.outcome <> 'completed' or r.output is null then null
    when jsonb_typeof(r.output) not in ('object', 'null') then
      format('QW005: the output is %s, not an object', jsonb_typeof(r.output))
    when octet_length(r.output::text) > least(1000, v_settings.max_value_bytes) then
      'QW005: the output ' || _qwf.json_problem(r.output, v_settings.max_value_bytes)
      || ': write a file and return its path'
  end offset 0) k (problem);  -- offset 0: each output is measured once
  if not v_valid then
    perform _qwf.raise_malformed_report(to_jsonb(p_reports));
  end if;
  return query select * from _qwf.end_attempts(v_reports);
end $$;

commit;
