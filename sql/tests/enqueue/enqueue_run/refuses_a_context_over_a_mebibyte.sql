-- 3 tests
select qwf_test.workflow('one', '[{"id": "a"}]');
select lives_ok($$ select qwf.enqueue_run('one',
  jsonb_build_object('x', repeat('x', 1048576 - 9))) $$, '1 MiB fits');
select throws_ok($$ select qwf.enqueue_run('one',
  jsonb_build_object('x', repeat('x', 1048576 - 8))) $$, 'QW005',
  'value too large', 'a byte more does not');
select qwf_test.explains($$ select qwf.enqueue_run('one',
  jsonb_build_object('x', repeat('x', 1048576 - 8))) $$,
  '%1048577%1048576%', 'the error says how large');
