-- 4 tests
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('w');
select qwf.enqueue('old', queue => 'cpu'), qwf.enqueue('later', run_at => qwf.now() + '1 day');
select qwf_test.claim();
select qwf.enqueue('new', queue => 'gpu') from generate_series(1, 20);
select results_eq(
  $$ select node_id, searched_to from qwf.find_jobs(
    jsonb_build_object('run_id', qwf_test.run()), look_back => 5) $$,
  $$ values ('s/b', null::bigint), ('s/a', null) $$, 'however old the run is');
select is(
  (select array_agg(task order by task) from qwf.find_jobs(
    '{"status": ["running", "scheduled"], "queue": "default"}', look_back => 5)),
  '{later}', 'a state that few jobs are in');
select is(
  (select array_agg(f.node_id || ' ' || (f.searched_to = f.id)) from qwf.find_jobs(
    jsonb_build_object('run_id', qwf_test.run()), look_back => 5, max_rows => 1) f),
  '{"s/b true"}', 'if there are more, where to search on');
select is(
  (select array_agg(f.task) from qwf.find_jobs(
    '{"status": "queued", "queue": "cpu"}', look_back => 5) f),
  '{NULL}', 'but not a state that many are in');
