-- 4 tests
select throws_ok($$ select qwf.tick('-1 s') $$, 'QW005', 'invalid age', 'negative');
select throws_ok($$ select qwf.tick('1000000 years') $$, 'QW005', 'invalid age',
  'longer than a timestamp can reach back');
select qwf_test.explains($$ select qwf.tick('-1 s') $$, '%-00:00:01%', 'the error names it');
select lives_ok($$ select qwf.tick('0 s'), qwf.tick('366 days') $$, 'a year is allowed');
