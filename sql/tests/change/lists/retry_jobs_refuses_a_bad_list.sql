-- 4 tests
select throws_ok('select * from qwf.retry_jobs(array(select generate_series(1, 1001)::bigint))',
  'QW005', 'too many jobs', 'more than 1000');
select throws_ok($$ select * from qwf.retry_jobs('{1,null}') $$, 'QW005', null, 'a null');
select is_empty($$ select * from qwf.retry_jobs('{}') $$, 'an empty list is no error');
select is_empty('select * from qwf.retry_jobs(null)', 'and neither is none');
