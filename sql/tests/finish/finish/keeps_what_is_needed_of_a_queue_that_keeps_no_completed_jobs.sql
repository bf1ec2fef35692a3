-- 6 tests
select qwf.create_queue('mail', keep_completed => false);
select qwf.enqueue('failed', queue => 'mail');
select qwf.enqueue('used_once', queue => 'mail', key => 'k', once => true);
select qwf.enqueue('files', queue => 'mail');
select qwf.enqueue('dropped', queue => 'mail');
select qwf.enqueue('elsewhere', queue => 'cpu');
select qwf_test.claim('mail', 9);
select qwf_test.claim('cpu');
create function pg_temp.report(p_task text, p_outcome text, p_detail jsonb default '{}')
returns jsonb language sql as $$
  select jsonb_build_object('job_id', j.id, 'token', j.token, 'outcome', p_outcome,
    'error', case when p_outcome = 'fatal' then 'boom' end, 'detail', p_detail)
  from qwf.jobs j where j.task = p_task $$;
select results_eq($$
  select v.verdict from qwf.finish_many(jsonb_build_array(
    pg_temp.report('elsewhere', 'completed'), pg_temp.report('failed', 'fatal'),
    pg_temp.report('used_once', 'completed'), pg_temp.report('dropped', 'completed'),
    pg_temp.report('files', 'completed', '{"files": [{"rel_path": "a"}]}'))) v
$$, $$ values ('ok'), ('ok'), ('ok'), ('ok'), ('ok') $$, 'all ended');
select results_eq('select task, status::text from qwf.jobs order by task', $$
  values ('elsewhere', 'completed'), ('failed', 'failed'), ('files', 'completed'),
    ('used_once', 'completed') $$,
  'a failure, a key that stays taken, a file, and other queues keep theirs');
select is((select count(*) from qwf.job_attempts), 4::bigint, 'with their attempts');
select is(qwf.enqueue('used_once', queue => 'mail', key => 'k', once => true),
  qwf_test.job('used_once'), 'the key is still taken');

select qwf.enqueue('again', queue => 'mail', key => 'k2');
select qwf_test.claim('mail');
select qwf.finish_many(jsonb_build_array(pg_temp.report('again', 'completed')));
select isnt(qwf.enqueue('again', queue => 'mail', key => 'k2'), null,
  'a key that is not used once is free again');
select is_empty('select * from qwf.check_invariants()', 'nothing dangles');
