-- 2 tests
select qwf_test.workflow('w', '[{"id": "a"}]');
select throws_ok($$ select qwf.enqueue_run('w', run_at => '290000-01-01') $$, 'QW005',
  'invalid run', 'a deadline after it could not be written');
select lives_ok($$ select qwf.enqueue_run('w', run_at => 'infinity') $$, 'forever can');
