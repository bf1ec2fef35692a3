-- 24 tests
-- for, more_than, by, where, label; questions; notify; no storm; no loop; a rule that raises.
create function pg_temp.fails(p_task text, p_labels jsonb default '{}', p_times int default 1)
returns void language sql as $$
  with failed as (
    insert into qwf.jobs (task, queue, status, labels, finished_at)
    select p_task, 'gpu', 'failed', p_labels, qwf.now() from generate_series(1, p_times)
    returning id)
  insert into _qwf.event_log (at, kind, job_id) select qwf.now(), 'job_failed', id from failed $$;
create function pg_temp.sent() returns setof text language sql as $$
  select concat_ws(' ', m.rule, m.state, m.subject, j.inputs #>> '{message,count}')
  from qwf.alert_messages m join qwf.jobs j on j.id = m.sent_job
  where m.created_at = qwf.now() order by j.id $$;
create function pg_temp.hears(p_rule jsonb, p_name text default 'r') returns void language sql as $$
  select qwf_test.travel('1 day');
  select qwf.set_alert(a.name, null) from qwf.alerts a;
  delete from qwf.open_alerts;
  select qwf.set_alert(p_name, p_rule || '{"do": {"receiver": "ops"}}');
  select qwf.tick(); $$;

select qwf_test.set_now('2030-01-01');
select pg_temp.hears('{"when": ["job_failed"], "more_than": 2, "within": "10 min"}');
select pg_temp.fails('t'), pg_temp.fails('t'), qwf.tick();
select is_empty('select pg_temp.sent()', 'two are not more than two');
select qwf_test.travel('9 min'), pg_temp.fails('u'), qwf.tick();
select is_empty('select pg_temp.sent()', 'each task counts for itself');
select qwf_test.travel('9 min'), pg_temp.fails('t'), qwf.tick();
select is_empty('select pg_temp.sent()', 'two are too long ago');
select pg_temp.fails('t', '{}', 2), qwf.tick();
select results_eq('select pg_temp.sent()', array['r open t 3'], 'three within ten minutes');
select qwf_test.travel('10 min'), qwf.tick();
select results_eq('select pg_temp.sent()', array['r resolved t 3'], 'nothing more happened');

select pg_temp.hears('{"when": ["job_failed"], "for": "5 min", "within": "3 min"}');
select pg_temp.fails('t'), qwf.tick(), qwf_test.travel('5 min'), qwf.tick();
select is_empty('select pg_temp.sent()', 'it was over before its time');
select pg_temp.fails('t'), qwf.tick(), qwf_test.travel('2 min'), pg_temp.fails('t'), qwf.tick();
select qwf_test.travel('2 min'), pg_temp.fails('t'), qwf.tick(), qwf_test.travel('1 min');
select qwf.tick();
select results_eq('select pg_temp.sent()', array['r open t 3'], 'it was still open after `for`');

select pg_temp.hears('{"when": ["job_failed"], "by": "label.customer",
  "where": {"queue": "gpu", "label": {"env": "prod"}}}');
select pg_temp.fails('t', '{"customer": "acme", "env": "prod"}', 2),
  pg_temp.fails('u', '{"customer": "emca", "env": "prod"}'),
  pg_temp.fails('v', '{"customer": "other", "env": "test"}'), qwf.tick();
select set_eq('select pg_temp.sent()', array['r open acme 2', 'r open emca 1'],
  'an alert for each customer, where the label fits');
select pg_temp.hears('{"when": ["job_failed"], "where": {"queue": "cpu"}}');
select pg_temp.fails('t'), qwf.tick();
select is_empty('select pg_temp.sent()', 'of another queue');

select pg_temp.hears('{"when": ["job_failed"], "by": "job"}');
select pg_temp.fails('t', '{}', 500), qwf.tick();
select results_eq($$ select split_part(s, ' ', 2), count(*) from pg_temp.sent() s group by 1
  order by 1 $$, $$ values ('open', 20::bigint), ('storm', 1) $$,
  'twenty, and one that says storm');
select results_eq($$ select s from pg_temp.sent() s where s like '%storm%' $$,
  array['r storm r 480'], 'with the number of subjects that are left');
select pg_temp.fails('t', '{}', 500), qwf_test.travel('30 min'), qwf.tick();
select is_empty('select pg_temp.sent()', 'quiet until the hour is over');

select pg_temp.hears('{"when": ["job_failed", "alert_failed"]}');
select qwf.set_alert('o', '{"when": ["job_failed"], "do": {"receiver": "x"}}');
select pg_temp.fails('qwf.send', '{"qwf.alert": "o"}'), qwf.tick();
select results_eq('select pg_temp.sent()', array['r open o 1'],
  'a message that was not delivered is told by rules on alert_failed only');
select pg_temp.fails('qwf.send', '{"qwf.alert": "r"}'), qwf_test.travel('7 h'), qwf.tick();
select is_empty($$ select * from pg_temp.sent() s where s like '%r open r%' $$,
  'and not about messages of those');

select pg_temp.hears('{"when": ["question_asked"]}');
select qwf.register_workflow('{"name": "q", "steps": [{"id": "ask", "kind": "input",
  "widget": "confirm", "prompt": "Go on?"}]}');
select qwf.enqueue_run('q');
select qwf.submit_input(qwf_test.run(), 'ask', 'true'), qwf.tick();
select is_empty('select pg_temp.sent()', 'answered before anybody was told');
select qwf.enqueue_run('q'), qwf.tick();
select is((select count(*) from pg_temp.sent()), 1::bigint, 'a question');
select qwf.cancel_run(qwf_test.run()), qwf_test.travel('1 s'), qwf.tick();
select results_eq($$ select split_part(s, ' ', 2) from pg_temp.sent() s $$, array['resolved'],
  'the end of its run ends it');

select pg_temp.hears('{"when": ["run_ended"]}');
delete from qwf.jobs where run_id is null;
select qwf.enqueue('t', notify => 'ada');
select qwf_test.attempt('t', 'fatal', error => 'boom'), qwf.tick();
select results_eq('select pg_temp.sent()', array['qwf.notify.ada open t 1'],
  'the receiver that the producer has named');
select qwf_test.workflow('w', '[{"id": "a"}]'), qwf_test.travel('1 min');
select qwf.enqueue_run('w', notify => 'ada'), qwf_test.attempt('s/a'), qwf.tick();
select results_eq('select pg_temp.sent()', array['qwf.notify.ada open w 1'], 'the end of a run');
select qwf_test.travel('1 min'), qwf.tick();
select is_empty('select pg_temp.sent()', 'and nothing more');
select throws_ok($$ select qwf.enqueue('t', notify => 'ada@example.org') $$, 'QW005',
  'invalid receiver', 'an address is not the name of a receiver');

select pg_temp.hears('{"when": ["job_failed"]}');
select qwf.create_queue('odd');
select qwf.set_alert('a_bad', '{"when": ["job_failed"], "do": {"task": "x", "queue": "odd"}}');
update qwf.alerts set rule = jsonb_set(rule, '{do,queue}', '"gone"') where name = 'a_bad';
select pg_temp.fails('t'), qwf.tick();
select results_eq('select pg_temp.sent()', array['r open t 1'], 'a rule that raises stops nobody');
select matches(a.last_error, 'QW006: unknown queue', 'and says why') from qwf.alerts a
where a.name = 'a_bad';
select is_empty('select * from qwf.check_invariants()', 'invariants');
