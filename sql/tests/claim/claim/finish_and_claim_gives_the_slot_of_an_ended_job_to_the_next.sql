-- 3 tests
select qwf.create_queue('narrow', max_running => 1);
select qwf.enqueue('a', queue => 'narrow'), qwf.enqueue('b', queue => 'narrow');
select is(qwf_test.claim('narrow', 2), 'claimed a', 'one at a time');
select results_eq($$
  select verdict, task
  from qwf.finish_and_claim(jsonb_build_array(jsonb_build_object('job_id', qwf_test.job('a'),
    'token', qwf_test.token('a'), 'outcome', 'completed')), 'narrow', 'w', 2)
$$, $$ values ('ok', null), (null, 'b') $$, 'and the next in the same call');
select is_empty('select * from qwf.check_invariants()', 'the slot is held by the next');
