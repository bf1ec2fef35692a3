-- 5 tests
select qwf_test.set_now('2030-01-01');
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "m", "map": [1, 2, 3],
  "depends_on": ["a"], "inputs": {"x": {"$from": "item"}}, "min_success": 1}]');
select qwf.enqueue_run('w');
select is((select sum(attempts) from qwf.run_timeline), 0::numeric, 'nothing has run yet');
select qwf_test.claim('cpu', 1), qwf_test.report('s/a');
select qwf_test.travel('10 s');
select qwf_test.claim('cpu', 3);
select qwf_test.travel('2 s');
select qwf_test.report('s/m[0]');
select qwf_test.travel('6 s');
select qwf_test.report('s/m[1]', 'fatal', error => 'torn');
select qwf_test.travel('2 s');

select results_eq($$
  select node_id, is_map, attempts, running, failed, typical, slowest, slowest_job
  from qwf.run_timeline where run_id = qwf_test.run() and is_map
$$, $$
  values ('s/m', true, 3::bigint, 1::bigint, 1::bigint, 8::float8, 10::float8,
    qwf_test.job('s/m[2]'))
$$, 'a map is one row, whose times are those of its elements');
select results_eq($$
  select t.at_once[1], t.at_once[40], t.at_once[41], t.at_once[160], t.at_once[162],
    t.at_once[200], array_length(t.at_once, 1), t.outcomes
  from qwf.run_timeline t where t.is_map
$$, $$
  values (3, 3, 3, 2, 1, 1, 200, '{completed,fatal,running}'::text[])
$$, 'how many elements went on in each slice of its time');
select is(
  (select array_agg(f.nth) from qwf.run_timeline t,
    unnest(t.failures) with ordinality f (failed, nth) where f.failed > 0),
  array[161::bigint], 'the slice in which one failed');
select is((select at_once from qwf.run_timeline where node_id = 's/a'), null,
  'a node with few attempts has no slices');
