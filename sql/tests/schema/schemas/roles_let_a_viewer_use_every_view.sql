-- any number of tests
-- The reader of a view must be allowed to call the functions that it calls.
select lives_ok(format($$ select qwf_test.as_role('qwf_viewer', 'select * from %s') $$, v.view),
  v.view)
from (
  select c.oid::regclass::text as view from pg_class c
  where c.relnamespace = 'qwf'::regnamespace and c.relkind = 'v'
) v
order by v.view;
