-- 3 tests
select qwf_test.workflow('w', '[{"id": "a"}]');
select throws_ok($$ select qwf.enqueue_run('w', once => true) $$, 'QW005', 'invalid run',
  'nothing would stay taken');
select qwf_test.explains($$ select qwf.enqueue_run('w', once => true) $$, 'once: needs a key%',
  'it is named');
select lives_ok($$ select qwf.enqueue_run('w', once => false) $$, 'false needs none');
