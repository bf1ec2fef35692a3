-- 4 tests
select throws_ok('select * from qwf.retry_runs(array(select generate_series(1, 1001)::bigint))',
  'QW005', 'too many runs', 'more than 1000');
select throws_ok($$ select * from qwf.retry_runs('{1,null}') $$, 'QW005', null, 'a null');
select is_empty($$ select * from qwf.retry_runs('{}') $$, 'an empty list is no error');
select is_empty('select * from qwf.retry_runs(null)', 'and neither is none');
