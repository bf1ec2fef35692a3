select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "charge", "node": "charge", "queue": "cpu"},
  {"id": "refund", "node": "refund", "queue": "cpu", "compensates": ["charge"]}]}');
select qwf.enqueue_run('w');
select results_eq(
  $$ select n ->> 'node_id', n -> 'takes_back'
    from qwf.run_status(qwf_test.run()) s
    cross join lateral jsonb_array_elements(s -> 'nodes') n $$,
  $$ values ('charge', null::jsonb), ('refund', '["charge"]') $$, 'and nothing of other nodes');
