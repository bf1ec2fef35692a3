-- 5 tests
select throws_ok($$ select qwf.claim('cpu', 'w', 0) $$, 'QW005', null, 'none');
select throws_ok($$ select qwf.claim('cpu', 'w', 1001) $$, 'QW005', null, 'too many');
select throws_ok($$ select qwf.claim('cpu', 'w', null) $$, 'QW005', null, 'unknown');
select lives_ok($$ select qwf.claim('cpu', 'w', 1000) $$, 'a thousand is the most');
select qwf_test.explains($$ select qwf.claim('cpu', 'w', 1001) $$, '%1001%',
  'the error names the value');
