-- Deploy qwf:functions/_read_reports
-- requires: schema/types
-- requires: schema/settings
-- requires: functions/_clip
-- Purpose: Reads what a worker reports, and turns an output that cannot be stored into a failure
--   that says so.
-- Guarantees: The same report always reads the same, so that a repeated one is recognised.
-- Raises: QW005 for a list that is none, or an item without job or outcome. A missing token is a
--   stale one: lost.
-- Called by: finish_many.

begin;

create function qwf._read_reports(p_reports jsonb) returns qwf.report[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings qwf.settings;
  v_reports qwf.report[];
  v_bad jsonb;
begin
  select s.* into v_settings from qwf.settings s;
  if jsonb_typeof(p_reports) = 'array' then
    select r.value into v_bad from jsonb_array_elements(p_reports) r
    where jsonb_typeof(r.value) <> 'object'
      or coalesce(r.value ->> 'job_id', '') !~ '^\d{1,18}$'
      or r.value ->> 'token' !~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$'
      or coalesce(r.value ->> 'outcome', '') not in (
        'completed', 'error', 'fatal', 'tempfail', 'lost', 'released', 'cancelled')
      or jsonb_typeof(coalesce(r.value -> 'detail', '{}')) not in ('object', 'null')
    limit 1;
  end if;
  if v_bad is not null or jsonb_typeof(p_reports) is distinct from 'array' then
    raise exception using errcode = 'QW005', message = 'malformed report',
      detail = coalesce(left(coalesce(v_bad, p_reports)::text, 300), 'null'),
      hint = 'a report has job_id, the token of the claim, and an outcome: completed, error, '
        'fatal, tempfail, lost, released or cancelled; the job is still yours';
  end if;
  select coalesce(array_agg((
      r.job_id, r.token, case when k.problem is null then r.outcome else 'fatal' end,
      case when r.outcome = 'completed' and k.problem is null
        then coalesce(nullif(r.output, 'null'), '{}') end,
      qwf._clip(coalesce(k.problem, r.error), v_settings.max_error_bytes),
      coalesce(nullif(r.detail, 'null'), '{}'))::qwf.report), '{}') into v_reports
  from jsonb_to_recordset(p_reports) r (
    job_id bigint, token uuid, outcome text, output jsonb, error text, detail jsonb)
  cross join lateral (select case
    when r.outcome <> 'completed' or r.output is null then null
    when jsonb_typeof(r.output) not in ('object', 'null') then
      format('QW005: the output is %s, not an object', jsonb_typeof(r.output))
    when octet_length(r.output::text) > v_settings.max_value_bytes then
      format('QW005: the output has %s bytes, at most %s fit: write a file and return where it is',
        octet_length(r.output::text), v_settings.max_value_bytes)
  end) k (problem);
  return v_reports;
end $$;
comment on function qwf._read_reports(jsonb) is
  'Reports as rows; an output that is no object or too large becomes a fatal outcome that says so. '
  'QW005 if malformed.';
revoke all on function qwf._read_reports(jsonb) from public;

commit;
