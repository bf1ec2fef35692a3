-- 4 tests
select throws_ok('select * from qwf.cancel_runs(array(select generate_series(1, 1001)::bigint))',
  'QW005', 'too many runs', 'more than 1000');
select throws_ok($$ select * from qwf.cancel_runs('{1,null}') $$, 'QW005', null, 'a null');
select throws_ok($$ select * from qwf.cancel_runs('{}', repeat('x', 4097)) $$, 'QW005', null,
  'a reason that is too long');
select is_empty($$ select * from qwf.cancel_runs('{}') $$, 'an empty list is no error');
