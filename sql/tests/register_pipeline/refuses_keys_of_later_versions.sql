begin;
select plan(7);

select results_eq(format('select qwf_test.node_problems(%L)', jsonb_build_object(c.key, c.value)),
  array[format('nodes[1].%s: is not yet supported', c.key)], c.key)
from (values
  ('map', jsonb '{"$from": "x.items"}'), ('max_parallel', '2'), ('min_success', '0.5'),
  ('run_if', '"all_done"'), ('limit_by', '"api"'), ('on_failure', '"continue"'),
  ('on_failure', '"ask"')) c (key, value);

select * from finish();
rollback;
