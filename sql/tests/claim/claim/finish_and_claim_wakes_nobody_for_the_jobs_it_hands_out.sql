-- 5 tests
select qwf_test.workflow('fan', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]},
  {"id": "c", "depends_on": ["a"]}, {"id": "d", "depends_on": ["c"]}]');
create function pg_temp.hop(p_node text, p_max_jobs int, p_queue text default 'cpu') returns bigint
language sql as $$
  select count(*) from qwf.finish_and_claim(jsonb_build_array(jsonb_build_object(
    'job_id', qwf_test.job(p_node), 'token', qwf_test.token(p_node), 'outcome', 'completed')),
    p_queue, 'w', p_max_jobs) $$;
select qwf.enqueue_run('fan');
select qwf_test.claim();
select qwf.sleep('x', 'cpu'), qwf.sleep('y', 'cpu');
update qwf.sleepers set since = since - interval '10 ms';
select is(pg_temp.hop('s/a', 5), 3::bigint, 'it takes both nodes that open');
select is(qwf_test.woken(), null, 'and wakes nobody');
select pg_temp.hop('s/c', 5, 'gpu');
select is(qwf_test.woken(), 'y', 'what it opens in another queue wakes a sleeper of that one');

select qwf_test.report('s/b');
select qwf_test.claim(), qwf_test.report('s/d');
select qwf.enqueue_run('fan');
select qwf_test.claim();
select qwf.wake('y'), qwf.sleep('z', 'cpu');
update qwf.sleepers set since = since - interval '20 ms';
select pg_temp.hop('s/a', 1);
select is(qwf_test.nodes(), 's/a completed, s/b running, s/c queued, s/d blocked',
  'it takes one of two');
select is(qwf_test.woken(), 'z', 'and wakes one for the other');
