-- Deploy qwf:functions/finish/_read_reports
-- Purpose: Reads the JSON list of reports that a worker sends.
-- Guarantees: Checks the types alone; _take_reports checks the values.
-- Raises: QW005 for anything but a list of objects, for an unknown key (an output under a mistyped
--   key would be lost), and for a field of the wrong type.
-- Called by: finish_many.

begin;

create function _qwf.read_reports(p_reports jsonb) returns _qwf.report[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_known constant text[] := '{job_id,token,outcome,output,error,detail}';
begin
  if p_reports is null then
    perform _qwf.raise_malformed_report(p_reports);
  end if;
  perform _qwf.check_keys(format('[%s].', r.n - 1), r.value, v_known)
  from jsonb_array_elements(p_reports) with ordinality r (value, n)
  where r.value - v_known <> '{}';
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
