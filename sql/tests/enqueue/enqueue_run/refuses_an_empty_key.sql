-- 2 tests
select qwf_test.workflow('w', '[{"id": "a"}]');
select throws_ok($$ select qwf.enqueue_run('w', key => '') $$, 'QW005', 'invalid run',
  'an empty variable would make all runs one');
select lives_ok($$ select qwf.enqueue_run('w', key => null) $$, 'null is no key');
