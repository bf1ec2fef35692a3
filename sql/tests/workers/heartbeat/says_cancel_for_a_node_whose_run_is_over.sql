select qwf_test.workflow('fork', '[{"id": "a"}, {"id": "b"}]');
select qwf.enqueue_run('fork');
select qwf_test.claim('cpu', 2);
select qwf_test.report('s/a', 'fatal');
select is((select verdict from qwf.heartbeat('w', array[qwf_test.token('s/b')])), 'cancel',
  'a sibling failed the run');
