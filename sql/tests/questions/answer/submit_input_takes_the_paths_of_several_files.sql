-- 3 tests
select qwf_test.question('file', '{"multiple": true}');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '"a.png"') $$, 'QW005', null,
  'must be a list');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '["a.png", 7]') $$, 'QW005',
  null, 'of paths');
select lives_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '["a.png", "b.png"]') $$,
  'paths');
