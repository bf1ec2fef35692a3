create temp table wanted as
select o.name, case o.unit
    when 'time' then '"00:00:01"' when 'true or false' then 'true' when 'seconds' then '[7]'
    when 'texts' then '["x"]'
    else (40 + row_number() over ())::text end::jsonb as value
from qwf.setting_overview o;
select qwf.change_settings(jsonb_object_agg(w.name, case
  when jsonb_typeof(w.value) = 'string'
    then to_jsonb((20 + n.nth)::text || ' s') else w.value end))
from wanted w join (select name, row_number() over () as nth from wanted) n using (name);
select set_eq('select name, value from qwf.setting_overview',
  $$ select w.name, case when jsonb_typeof(w.value) = 'string'
    then to_jsonb(make_interval(secs => 20 + n.nth)) else w.value end
  from wanted w join (select name, row_number() over () as nth from wanted) n using (name) $$,
  'a different value for each, so that no two are exchanged');
