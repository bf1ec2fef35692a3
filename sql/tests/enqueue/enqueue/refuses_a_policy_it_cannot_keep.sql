-- 4 tests
select throws_ok($$ select qwf.enqueue('a', on_failure => 'continue') $$, 'QW005', 'invalid job',
  'continue');
select throws_ok($$ select qwf.enqueue('a', expires => '-1 h') $$, 'QW005', 'invalid job',
  'expired');
select throws_ok($$ select qwf.enqueue('a', limit_by => 'api') $$, 'QW001', 'no such limit',
  'limit_by');
select is((select count(*)::int from qwf.jobs), 0, 'nothing was written');
