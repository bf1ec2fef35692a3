-- 3 tests
select qwf_test.workflow('w', '[{"id": "each", "map": {"$value": [1, 2, 3]}}]');
select qwf.enqueue_run('w', max_attempts => 1);
select qwf_test.claim(p_max_jobs => 3);
select qwf_test.report('s/each[0]', 'fatal', error => 'no good');
select is((select last_error from qwf.jobs where node_id = 's/each'),
  '1 of 3 elements failed, 3 must succeed; s/each[0]: no good', 'the map has failed');
select results_eq($$ select task, count, searched from qwf.failure_groups() $$,
  $$ values ('each', 1, 1) $$, 'the element counts, the map and the run do not');
select is((select failed from qwf.overview), 1, 'nor in the figure of the first page');
