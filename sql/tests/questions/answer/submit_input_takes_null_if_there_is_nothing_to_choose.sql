-- 3 tests
-- An empty source must not block the run forever.
select qwf_test.question('choose_one', '{"source": {"$from": "found", "$default": []}}');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '"cow"') $$, 'QW005', null,
  'there are no options');
select qwf_test.hints($$ select qwf.submit_input(qwf_test.run(), 'ask', '"cow"') $$,
  'there is nothing to choose from: answer null', 'the hint says what to answer');
select lives_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', 'null') $$, 'null');
