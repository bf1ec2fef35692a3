-- 2 tests
select qwf_test.question('turnout', '{"options": [{"id": "left"}, {"id": "right"}]}');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '"up"') $$, 'QW005', null,
  'not a branch');
select lives_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '"left"') $$, 'a branch');
