-- 2 tests
select qwf_test.question('draw_on_map', '{"zoom": 7}');
select is((select spec -> 'zoom' from qwf.pending_inputs), '7', 'pending_inputs shows its keys');
select lives_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '[[1, 2], [3, 4]]') $$,
  'any value is taken');
