begin;
select plan(2);

select qwf_test.question('draw_on_map', '{"zoom": 7}');
select is((select spec -> 'zoom' from qwf.pending_inputs), '7', 'its keys are carried through');
select lives_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '[[1, 2], [3, 4]]') $$,
  'the host knows what it means');

select * from finish();
rollback;
