-- Deploy qwf:functions/finish/_raise_malformed_report
-- Purpose: Raises QW005 and shows the report of a list that is malformed, or its unknown key.
-- Raises: QW005; not if p_if_malformed is given and every report is well formed.
-- Called by: _read_reports, finish_many.

begin;

create function _qwf.raise_malformed_report(
  p_reports jsonb, p_if_malformed boolean default false)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_known constant text[] := '{job_id,token,outcome,output,error,detail}';
  v_bad jsonb;
  v_twice boolean := jsonb_typeof(p_reports) = 'string';  -- the whole list
begin
  if jsonb_typeof(p_reports) = 'array' then
    perform _qwf.check_keys(format('[%s].', r.n - 1), r.value, v_known)
    from jsonb_array_elements(p_reports) with ordinality r (value, n)
    where case jsonb_typeof(r.value) when 'object' then r.value - v_known <> '{}' end;
    select r.value into v_bad from jsonb_array_elements(p_reports) r
    where jsonb_typeof(r.value) <> 'object'
      or coalesce(r.value ->> 'job_id', '') !~ '^[0-9]{1,18}$'
      or r.value ->> 'token' !~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$'
      or coalesce(r.value ->> 'outcome', '') not in (
        'completed', 'error', 'fatal', 'tempfail', 'lost', 'released', 'cancelled')
      or jsonb_typeof(coalesce(r.value -> 'detail', '{}')) not in ('object', 'null')
    limit 1;
    if not found then
      select r.value into v_bad from jsonb_array_elements(p_reports) r
      where _qwf.is_quoted_twice(r.value ->> 'outcome', r.value -> 'output') limit 1;
      v_twice := found;
    end if;
    if p_if_malformed and v_bad is null then
      return;
    end if;
  end if;
  raise exception using errcode = 'QW005', message = 'malformed report',
    detail = coalesce(_qwf.excerpt(coalesce(v_bad, p_reports), 300), 'null'),
    hint = case when v_twice then 'your driver has made a JSON string of text that was JSON '
        'already: write $1::text::jsonb; no report of this call is written, send them again'
      else 'a report has job_id, the token of the claim, and an outcome: completed, error, '
      'fatal, tempfail, lost, released or cancelled; no report of this call is written: send '
      'each in a call of its own' end;
end $$;

commit;
