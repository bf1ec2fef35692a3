select qwf_test.workflow('w', '[{"id": "list"},
  {"id": "each", "depends_on": ["list"], "map": {"$from": "list.items"}}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/list', output => '{"items": [1, 2]}');
select results_eq(
  $$ select node_id from qwf.find_jobs('{"node": "s/each"}') $$,
  $$ values ('s/each[1]'), ('s/each[0]'), ('s/each') $$, 'with the node itself');
