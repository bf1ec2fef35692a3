-- 2 tests
create temp table made as
select id, place
from qwf.enqueue_many((select jsonb_agg(jsonb_build_object('task', 't', 'args',
  jsonb_build_object('n', n)) order by n) from generate_series(1, 500) n))
  with ordinality m (id, merged, kept, run_at, place);
select is_empty('select from made m join qwf.jobs j on j.id = m.id
  where (j.inputs ->> ''n'')::int <> m.place', 'the ids are in the order of the items');
select is_empty($$
  select from qwf.jobs j join qwf.jobs later on later.position > j.position
  where (later.inputs ->> 'n')::int < (j.inputs ->> 'n')::int $$, 'so are the positions');
