-- Deploy qwf:functions/finish/_read_reports
-- Purpose: Reads what a worker reports, and turns an output that cannot be stored into a failure
--   that says so.
-- Guarantees: The same report always reads the same, so that a repeated one is recognised. Outputs
--   are measured one by one only where all of it together could hold one that is too large.
-- Raises: QW005 for a list that is none, or an item without job or outcome. A missing token is a
--   stale one: lost.
-- Called by: finish_many.

begin;

create function _qwf.read_reports(p_reports jsonb) returns _qwf.report[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings qwf.settings;
  v_reports _qwf.report[];
  v_good boolean;
  v_large boolean;
begin
  select s.* into v_settings from qwf.settings s;
  v_large := octet_length(p_reports::text) > v_settings.max_value_bytes;
  select coalesce(array_agg((
      r.job_id, r.token, case when k.problem is null then r.outcome else 'fatal' end,
      case when r.outcome = 'completed' and k.problem is null
        then coalesce(nullif(r.output, 'null'), '{}') end,
      _qwf.clip(coalesce(k.problem, r.error), v_settings.max_error_bytes),
      coalesce(nullif(r.detail, 'null'), '{}'))::_qwf.report), '{}'),
    coalesce(bool_and(coalesce(r.job_id >= 0 and r.outcome in (
        'completed', 'error', 'fatal', 'tempfail', 'lost', 'released', 'cancelled')
      and coalesce(jsonb_typeof(r.detail), 'null') in ('object', 'null'), false)), true)
    into v_reports, v_good
  from jsonb_to_recordset(p_reports) r (
    job_id bigint, token uuid, outcome text, output jsonb, error text, detail jsonb)
  cross join lateral (select case
    when r.outcome <> 'completed' or r.output is null then null
    when jsonb_typeof(r.output) not in ('object', 'null') then
      format('QW005: the output is %s, not an object', jsonb_typeof(r.output))
    when v_large and octet_length(r.output::text) > v_settings.max_value_bytes then
      format('QW005: the output has %s bytes, at most %s fit: write a file and return where it is',
        octet_length(r.output::text), v_settings.max_value_bytes)
  end) k (problem);
  if v_good is not true or p_reports is null then
    perform _qwf.raise_malformed_report(p_reports);
  end if;
  return v_reports;
exception
  when data_exception then
    perform _qwf.raise_malformed_report(p_reports);
    return null;  -- not reached
end $$;

commit;
