-- 2 tests
select qwf_test.question('choose_one', '{"source": {"$from": "found"}}',
  '{"found": ["cat", "dog"]}');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '"cow"') $$, 'QW005', null,
  'not one of them');
select lives_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '"dog"') $$, 'one of them');
