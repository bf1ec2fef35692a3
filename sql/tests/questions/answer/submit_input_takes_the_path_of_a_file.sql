-- 3 tests
select qwf_test.question('file');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '""') $$, 'QW005', null,
  'an empty path');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '["a.png"]') $$, 'QW005', null,
  'a list');
select lives_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '"a.png"') $$, 'a path');
