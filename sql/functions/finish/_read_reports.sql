-- Deploy qwf:functions/finish/_read_reports
-- Purpose: Reads the JSON list of reports that a worker sends.
-- Guarantees: Checks the types alone; _take_reports checks the values.
-- Raises: QW005 for anything but a list of objects, and for a field of the wrong type.
-- Called by: finish_many.

begin;

create function _qwf.read_reports(p_reports jsonb) returns _qwf.report[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_reports is null then
    perform _qwf.raise_malformed_report(p_reports);
  end if;
  return array(
    select (r.job_id, r.token, r.outcome, r.output, r.error, r.detail)::_qwf.report
    from jsonb_to_recordset(p_reports) r (
      job_id bigint, token uuid, outcome text, output jsonb, error text, detail jsonb));
exception
  when data_exception then
    perform _qwf.raise_malformed_report(p_reports);
    return null;  -- not reached
end $$;

commit;
