-- 3 tests
select qwf_test.question('text');
select qwf.submit_input(qwf_test.run(), 'ask', '"cat"');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '"dog"') $$, 'QW002',
  'already answered', 'only one answer');
select qwf_test.explains($$ select qwf.submit_input(qwf_test.run(), 'ask', '"dog"') $$,
  '%ask%completed%',
  'the error names it');
select is((select output from qwf.jobs), '{"answer": "cat"}', 'the first answer stands');
