-- Deploy qwf:functions/finish/_read_reports
-- Purpose: Reads and checks the JSON list of reports that a worker sends, and turns an output that
--   cannot be stored into a failure that says so.
-- Guarantees: The same report always reads the same, so that a repeated one is recognised. A
--   missing token counts as a stale one: lost. Each output is measured once (offset 0).
-- Raises: QW005 for anything but a list of objects, for an unknown key (an output under a mistyped
--   key would be lost), for a field of the wrong type, for a report without a job or a known
--   outcome, for a detail that is not an object, and for an output that a driver has quoted twice.
-- Called by: _answer_reports, finish_many.

begin;

create function _qwf.read_reports(p_reports jsonb) returns _qwf.report[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reports _qwf.report[];
  v_known constant text[] := '{job_id,token,outcome,output,error,detail}';
  v_valid boolean;
begin
  select
    coalesce(array_agg((
      r.job_id, r.token, case when k.problem is null then r.outcome else 'fatal' end,
      case when r.outcome = 'completed' and k.problem is null
        then coalesce(nullif(r.output, 'null'), '{}') end,
      _qwf.clip(coalesce(k.problem, r.error), s.max_error_bytes),
      coalesce(nullif(r.detail, 'null'), '{}'))::_qwf.report), '{}'),
    coalesce(bool_and(coalesce(r.value - v_known = '{}' and r.job_id >= 0 and r.outcome in (
        'completed', 'error', 'fatal', 'tempfail', 'lost', 'released', 'cancelled')
      and coalesce(jsonb_typeof(r.detail), 'null') in ('object', 'null')
      and not _qwf.is_quoted_twice(r.outcome, r.output), false)), true)
    into v_reports, v_valid
  from rows from (
    jsonb_array_elements(p_reports),
    jsonb_to_recordset(p_reports) as (
      job_id bigint, token uuid, outcome text, output jsonb, error text, detail jsonb)
    ) r (value, job_id, token, outcome, output, error, detail)
  cross join qwf.settings s
  cross join lateral (select case
    when r.outcome <> 'completed' or r.output is null then null
    when jsonb_typeof(r.output) not in ('object', 'null') then
      format('QW005: the output is %s, not an object', jsonb_typeof(r.output))
    when octet_length(r.output::text) > least(1000, s.max_value_bytes) then
      'QW005: the output ' || _qwf.json_problem(r.output, s.max_value_bytes)
      || ': write a file and return its path'
  end offset 0) k (problem);
  if not v_valid or p_reports is null then
    perform _qwf.raise_malformed_report(p_reports);
  end if;
  return v_reports;
exception
  when data_exception then
    perform _qwf.raise_malformed_report(p_reports);
    return null;
end $$;

commit;
