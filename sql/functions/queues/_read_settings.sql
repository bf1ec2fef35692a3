-- Deploy qwf:functions/queues/_read_settings
-- Purpose: Returns changes of settings with the default in place of each null.
-- Raises: QW005 for a value that is not an object, an unknown setting, an invalid backoff, or a
--   number alone as the time that something is kept: people who write 7 mean days, and Postgres
--   reads seconds.
-- Called by: change_settings.

begin;

create function _qwf.read_settings(p_changes jsonb) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_names text[] := array(select o.name from qwf.setting_overview o);
  v_name text;
  v_value jsonb;
  v_changes jsonb := '{}';
begin
  if jsonb_typeof(p_changes) is distinct from 'object' then
    raise exception using errcode = 'QW005', message = 'invalid settings',
      detail = format('changes %s', _qwf.excerpt(p_changes)),
      hint = 'give an object of names and values, such as {"lease": "1 min"}';
  end if;
  for v_name, v_value in select c.key, nullif(c.value, 'null') from jsonb_each(p_changes) c loop
    if v_name <> all (v_names) then
      raise exception using errcode = 'QW005', message = 'no such setting',
        detail = format('setting %L', left(v_name, 100)),
        hint = coalesce(_qwf.did_you_mean(v_name, v_names) || ' ', '')
          || 'all settings: select * from qwf.setting_overview';
    end if;
    if v_name in ('error_backoff', 'transient_backoff') and v_value is not null
      and _qwf.backoff_seconds(v_value, 1) is null then
      raise exception using errcode = 'QW005', message = 'invalid setting',
        detail = format('%s %s', v_name, _qwf.excerpt(v_value)),
        hint = 'a backoff is a list of seconds such as [1, 5, 30], '
          'or {"base": 1, "factor": 2, "max": 600}';
    end if;
    if v_name in ('retention', 'metrics_keep', 'minutes_keep', 'events_keep')
      and v_value #>> '{}' ~ '^ *[-+]?[0-9.]+ *$' then
      raise exception using errcode = 'QW005', message = 'invalid setting',
        detail = format('%s %s', v_name, _qwf.excerpt(v_value)),
        hint = 'write the unit of the time, as in 12 hours or 30 days';
    end if;
    v_changes := v_changes || jsonb_build_object(v_name, coalesce(v_value, (
      select o.default_value from qwf.setting_overview o where o.name = v_name)));
  end loop;
  return v_changes;
end $$;

commit;
