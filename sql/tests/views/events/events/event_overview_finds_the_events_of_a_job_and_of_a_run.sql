-- 4 tests
select qwf_test.workflow('w', '[{"id": "a", "queue": "cpu"}]');
select qwf.enqueue_run('w');
select qwf.enqueue('b');
insert into _qwf.event_log (run_id, job_id, kind, detail) values
  (qwf_test.run(), null, 'retried', '{"nodes": 1}'),
  (qwf_test.run(), qwf_test.job('s/a'), 'lost', '{}'),
  (null, qwf_test.job('b'), 'expired', '{}'),
  (qwf_test.run(), -1, 'lost', '{}'),
  (null, null, 'server_broken', '{"server": "x"}');
select results_eq($$
  select kind, job_id, node_id, task from qwf.event_overview where run_id = qwf_test.run()
  order by id
$$, $$
  values ('retried', null, null, null), ('lost', qwf_test.job('s/a'), 's/a', 'a'),
    ('lost', -1, null, null)
$$, 'of a run: its own, and those of its jobs, also of one that is gone');
select results_eq($$
  select kind, run_id, login, detail from qwf.event_overview where job_id = qwf_test.job('b')
$$, $$ values ('expired', null::bigint, qwf_test.login(), '{}'::jsonb) $$, 'of a standalone job');
select bag_eq('select id from qwf.event_overview', 'select id from _qwf.event_log',
  'every event is in it once, also of jobs that are gone');

insert into qwf.jobs (task, status) select 'c', 'completed' from generate_series(1, 3000);
insert into _qwf.event_log (job_id, kind)
select j.id, 'retried' from qwf.jobs j where j.task = 'c';
analyze qwf.jobs, _qwf.event_log;
select unalike(qwf_test.plan_of('select * from qwf.event_overview where run_id = 1')
  || qwf_test.plan_of('select * from qwf.event_overview where job_id = 1'), '%Seq Scan%',
  'an index answers both');
