-- 4 tests
select qwf_test.question('confirm');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '"yes"') $$, 'QW005', null,
  'not a text');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '1') $$, 'QW005', null,
  'not a number');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', null) $$, 'QW005', null,
  'not null');
select lives_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', 'false') $$, 'no is an answer');
