-- 7 tests
select throws_ok($$ select qwf.create_limit('api') $$, 'QW005', 'invalid limit', 'of nothing');
select throws_ok($$ select qwf.create_limit('api', starts => 0) $$, 'QW005', 'invalid limit',
  'of nothing, said so');
select throws_ok($$ select qwf.create_limit('api', starts => -1) $$, 'QW005', 'invalid limit',
  'negative');
select throws_ok($$ select qwf.create_limit('api', starts => 10001) $$, 'QW005', 'invalid limit',
  'too many rows');
select throws_ok($$ select qwf.create_limit('api', starts => 1, per => '1 ms') $$, 'QW005',
  'invalid limit', 'too short');
select throws_ok($$ select qwf.create_limit('api', 2, per => '1 s') $$, 'QW005', 'invalid limit',
  'a period of nothing');
select is_empty('select * from qwf.limits', 'nothing was written');
