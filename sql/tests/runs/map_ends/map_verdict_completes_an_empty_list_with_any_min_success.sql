select qwf_test.workflow('w', '[{"id": "up"}, {"id": "m", "depends_on": ["up"],
  "map": {"$from": "up.items"}, "min_success": 1}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/up', 'completed', '{"items": []}');
select is(qwf_test.state('s/m'), 'completed', 'there is nothing that could fail');
