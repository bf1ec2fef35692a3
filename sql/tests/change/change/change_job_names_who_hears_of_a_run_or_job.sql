-- 18 tests
-- notify names a receiver after the work was enqueued: of a job alone, and of a run by any of its
-- nodes, in whatever state they are, until it is over. An empty name removes it.
create function pg_temp.told() returns setof text language sql as $$
  select concat_ws(' ', m.receiver, m.subject, j.inputs #>> '{message,kind}')
  from qwf.alert_messages m join qwf.jobs j on j.id = m.sent_job
  where m.created_at = qwf.now() order by 1 $$;

select qwf_test.set_now('2030-01-01');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "ask", "kind": "input", "widget": "confirm"}, {"id": "go", "node": "t", "queue": "default",
   "depends_on": ["ask"]}]}');
select qwf.enqueue_run('w', labels => '{"team": "a"}');
select qwf.tick();
select lives_ok($$ select qwf.change_job(j.id, notify => 'ada') from qwf.jobs j
  where j.node_id = 'go' $$, 'a node that is blocked names its run');
select results_eq('select labels from qwf.runs',
  $$ values ('{"team": "a", "qwf.notify": "ada"}'::jsonb) $$, 'its other labels stay');
select is((select count(*) from qwf.jobs where labels ? 'qwf.notify'), 0::bigint,
  'one row is written, however many nodes there are');
select qwf.change_job((select min(id) from qwf.jobs), notify => 'ada');
select results_eq($$ select detail from _qwf.event_log where kind = 'changed' $$,
  $$ values ('{"new": {"notify": "ada"}}'::jsonb) $$, 'an event says so, once');
select qwf.tick();
select qwf.cancel_run(r.id) from qwf.runs r;
select qwf.tick();
select results_eq('select pg_temp.told()', array['ada w run_ended'],
  'the end is told, and not what has its number already');
select throws_ok($$ select qwf.change_job(j.id, notify => 'bob') from qwf.jobs j
  where j.node_id = 'go' $$, 'QW002', 'the run is over');

select qwf_test.travel('1 min');
select qwf.enqueue('load', notify => 'ada');
create temp table running as select job_id, token from qwf.claim('default', 'w', 1);
select qwf.change_job(job_id, notify => 'bob') from running;
select results_eq($$ select detail from _qwf.event_log
    where kind = 'changed' order by id desc limit 1 $$,
  $$ values ('{"old": {"notify": "ada"}, "new": {"notify": "bob"}}'::jsonb) $$,
  'the event says who was told before');
select qwf.finish(job_id, token, 'fatal', null, 'boom') from running;
select qwf.tick();
select results_eq('select pg_temp.told()', array['bob load job_failed'], 'of a job that runs');
select throws_ok('select qwf.change_job(job_id, notify => ''bob'') from running', 'QW002',
  'the job is over');
select throws_ok('select qwf.change_job(99, notify => ''bob'')', 'QW001', 'no such job');
create temp table later as select qwf.enqueue('later', run_at => qwf.now() + interval '1 h') as id;
select throws_ok('select qwf.change_job(id, notify => ''a@b.example'') from later', 'QW005',
  'invalid receiver');
select lives_ok('select qwf.change_job(id, 5, notify => ''ada'') from later',
  'together with other changes');
select results_eq('select priority, labels from qwf.jobs where id = (select id from later)',
  $$ values (5, '{"qwf.notify": "ada"}'::jsonb) $$, 'both are done');
select qwf.change_job(id, notify => '') from later;
select results_eq('select priority, labels from qwf.jobs where id = (select id from later)',
  $$ values (5, '{}'::jsonb) $$, 'an empty name removes it, and nothing else');
select results_eq($$ select detail from _qwf.event_log
    where kind = 'changed' order by id desc limit 1 $$,
  $$ values ('{"old": {"notify": "ada"}}'::jsonb) $$, 'the event says who was told');

select qwf_test.travel('1 h');
create temp table asked as select qwf.enqueue_run('w', notify => 'ada') as run;
select ok(bool_and(j.labels ->> 'qwf.notify' = 'ada'), 'the nodes of a run have its receiver')
from qwf.jobs j where j.run_id = (select run from asked);
select qwf.change_job(min(j.id), notify => '') from qwf.jobs j
where j.run_id = (select run from asked);
select qwf.tick();
select qwf.cancel_run(run) from asked;
select qwf.tick();
select is_empty('select pg_temp.told()', 'a run of which it was removed tells nobody of its nodes');
select is_empty('select * from qwf.check_invariants()', 'invariants');
