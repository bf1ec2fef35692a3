select qwf_test.workflow('one',
  '[{"id": "a", "node": "render", "timeout": "7 min", "stall_timeout": "9 s"}]');
select qwf.enqueue_run('one', out_dir => '/data', project => 'p', labels => '{"n": 1}');
select results_eq($$
  select run_id, node_id, task, queue, timeout, stall_timeout, out_dir, project, labels
  from qwf.claim('cpu', 'w')
$$, $$
  values (qwf_test.run(), 's/a', 'render', 'cpu', interval '7 min', interval '9 s', '/data', 'p',
    '{"n": 1}'::jsonb)
$$, 'all a body needs to know');
