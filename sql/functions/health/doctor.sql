-- Deploy qwf:functions/health/doctor
-- Purpose: Makes the checks of the engine and its server one after the other, and says what to do.
-- Guarantees: Changes nothing. A check that fails becomes one row with level unchecked, and the
--   others are made. So does one that statement_timeout ends; the rest then has no limit.
-- Raises: QW005 for a name that no check has.
-- Called by: people, dashboards, qwf doctor, qwf web.

begin;

create function qwf.doctor(checks text[] default null) returns setof qwf.finding
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  v_names text[] := array(select c.name from _qwf.doctor_checks() c);
  v_unknown text;
  v_check text;
  v_about text;
  v_found _qwf.finding[];
begin
  select coalesce(w.name, 'null') into v_unknown
  from unnest(doctor.checks) w (name)
  where coalesce(w.name <> all (v_names), true)
  limit 1;
  if found then
    raise exception using errcode = 'QW005', message = 'unknown check',
      detail = left(v_unknown, 200), hint = coalesce(_qwf.did_you_mean(v_unknown, v_names),
        'the checks are ' || array_to_string(v_names, ', '));
  end if;
  for v_check, v_about in
    select c.name, c.about from _qwf.doctor_checks() c
    where doctor.checks is null or c.name = any (doctor.checks)
  loop
    begin
      v_found := array(select f from _qwf.doctor_findings(v_check) f);
      if v_found = '{}' then
        v_found := array[row('fine', null, v_about, null)::_qwf.finding];
      end if;
    exception when query_canceled or others then
      if sqlstate = '57014' and (clock_timestamp() - statement_timestamp()
          < nullif(current_setting('statement_timeout'), '0')::interval) is distinct from false then
        raise;  -- who cancels it by hand wants to end it
      end if;
      v_found := array[row('unchecked', null, 'this could not be checked: ' || sqlerrm,
        case sqlstate when '42501' then 'run it as a login with qwf_viewer or qwf_admin'
          else 'try again' end)::_qwf.finding];
    end;
    return query select v_check, f.* from unnest(v_found) f;
  end loop;
end $$;
comment on function qwf.doctor is
  'Makes all checks of the engine and its server, or the named ones, and says what to do: select * '
  'from qwf.doctor(). It changes nothing. QW005: no such check.';
call _qwf.allow('qwf.doctor', 'qwf_viewer');

commit;
