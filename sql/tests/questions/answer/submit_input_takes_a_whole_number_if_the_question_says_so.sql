-- 2 tests
select qwf_test.question('number', '{"integer": true}');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '1.5') $$, 'QW005', null,
  'a fraction');
select lives_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '2') $$, 'a whole number');
