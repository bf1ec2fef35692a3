-- 3 tests
select qwf_test.workflow('w', '[{"id": "a"}]');
select qwf.enqueue_run('w');
select results_eq($$
  select kind, name, version, current_version, definition = current_definition
  from qwf.run_definitions where run_id = qwf_test.run() order by kind
$$, $$ values ('pipeline', 'w', 1, 1, true), ('workflow', 'w', 1, 1, true) $$, 'the current ones');
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b"}]');
select results_eq($$
  select kind, version, current_version, jsonb_array_length(definition -> 'nodes'),
    jsonb_array_length(current_definition -> 'nodes')
  from qwf.run_definitions where run_id = qwf_test.run() order by kind
$$, $$ values ('pipeline', 1, 2, 1, 2), ('workflow', 1, 1, null, null) $$,
  'a pipeline has changed');
select qwf.enqueue_run('w');
select is((select max(version) from qwf.run_definitions where run_id = qwf_test.run()), 2,
  'a new run executes it');
