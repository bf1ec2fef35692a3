-- 4 tests
select throws_ok('select * from qwf.cancel_jobs(array(select generate_series(1, 1001)::bigint))',
  'QW005', 'too many jobs', 'more than 1000');
select throws_ok($$ select * from qwf.cancel_jobs('{1,null}') $$, 'QW005', null, 'a null');
select throws_ok($$ select * from qwf.cancel_jobs('{}', repeat('x', 4097)) $$, 'QW005', null,
  'a reason that is too long');
select is_empty($$ select * from qwf.cancel_jobs('{}') $$, 'an empty list is no error');
