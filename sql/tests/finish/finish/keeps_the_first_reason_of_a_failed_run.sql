select qwf_test.workflow('fork', '[{"id": "a"}, {"id": "b"}]');
select qwf.enqueue_run('fork');
select qwf_test.claim('cpu', 2);
select qwf_test.report('s/b', 'fatal', error => 'first'),
  qwf_test.report('s/a', 'fatal', error => 'second');
select is((select error from qwf.runs), 's/b failed: first',
  'the others followed from it, or came later');
