-- 4 tests
select throws_ok($$
  select qwf.enqueue('mail', run_at => '9000-01-01', expires => '1000 years')
$$, 'QW005', 'invalid job', 'no client could read the time');
select throws_ok($$ select qwf.enqueue('mail', run_at => '0044-03-15 BC') $$, 'QW005',
  'invalid job', 'nor one before our era');
select lives_ok($$ select qwf.enqueue('mail', run_at => '9000-01-01', expires => '9 years') $$,
  'within the calendar');
select lives_ok($$ select qwf.enqueue('mail', run_at => 'infinity', expires => '1000 years') $$,
  'a job that waits forever never expires');
