-- 2 tests
select qwf.enqueue('a'), qwf.enqueue('b');
select qwf_test.claim('default');
select qwf.pause_queue('default');
select results_eq($$
  select verdict, task
  from qwf.finish_and_claim(jsonb_build_array(jsonb_build_object('job_id', qwf_test.job('a'),
    'token', qwf_test.token('a'), 'outcome', 'completed')), 'default', 'w')
$$, $$ values ('ok', null::text) $$, 'and hands out nothing');
select is(qwf_test.state('a'), 'completed', 'the report is taken');
