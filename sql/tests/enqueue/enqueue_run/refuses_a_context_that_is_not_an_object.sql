-- 5 tests
select qwf_test.workflow('one', '[{"id": "a"}]');
select throws_ok($$ select qwf.enqueue_run('one', '[]') $$, 'QW005', null, 'a list');
select throws_ok($$ select qwf.enqueue_run('one', 'null') $$, 'QW005', null, 'JSON null');
select throws_ok($$ select qwf.enqueue_run('one', null) $$, 'QW005', null, 'SQL null');
select throws_ok($$ select qwf.enqueue_run('one', labels => '[]') $$, 'QW005', null,
  'labels that are none');
select qwf_test.explains($$ select qwf.enqueue_run('one', '[]') $$, '%array%',
  'the error says what it is');
