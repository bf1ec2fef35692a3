-- 4 tests
select qwf_test.set_now('2030-01-01');
select qwf_test.workflow('w', '[{"id": "m", "map": [1, 2, 3], "max_parallel": 2,
  "inputs": {"x": {"$from": "item"}}, "min_success": 1}]');
select qwf.enqueue_run('w');
select qwf_test.claim('cpu', 5);
select qwf_test.travel('2 s');
select qwf_test.report('s/m[0]'), qwf_test.report('s/m[1]', 'tempfail', error => 'come back');
select qwf_test.travel('1 h'), _qwf.promote_due();
select qwf_test.claim('cpu', 5);
select qwf_test.travel('5 s');
select results_eq($$
  select element, node_id, status::text, attempt, seconds, error
  from qwf.element_overview where map_id = qwf_test.job('s/m') order by element
$$, $$
  values (0, 's/m[0]', 'completed', 1, 2::float8, null),
    (1, 's/m[1]', 'running', 2, 7, 'come back'), (2, 's/m[2]', 'running', 1, 5, null)
$$, 'a retry counts with what was lost, what runs until now');
select is((select count(*)::int from qwf.element_overview), 3, 'only elements');
select is((select distinct host from qwf.element_overview), 'w',
  'the box of a worker that is gone');
select qwf_test.report('s/m[1]');
select is((select seconds from qwf.element_overview where element = 1), 7::float8,
  'and at its end');
