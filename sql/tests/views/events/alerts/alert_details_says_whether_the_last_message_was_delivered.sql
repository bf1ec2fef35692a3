-- 6 tests
-- Of each alert that has opened: its last message, whom it tells, and the state of its job.
create function pg_temp.happens(p_kind text, p_subject text) returns void language sql as $$
  insert into _qwf.event_log (at, kind, subject) values (qwf.now(), p_kind, p_subject) $$;
create function pg_temp.seen() returns setof text language sql as $$
  select concat_ws(' ', a.subject, a.events, a.message, a.sent_to, a.delivery, a.delivery_error,
    case when a.closed_at is not null then 'closed' end)
  from qwf.alert_details a order by a.id $$;

select qwf_test.set_now('2030-01-01');
select qwf.set_alert('dead', '{"when": ["worker_dead"], "do": {"receiver": "ops"}}');
select qwf.set_alert('own', '{"when": ["ticks_missed"], "do": {"task": "page"}}');
select qwf.set_alert('later', '{"when": ["server_broken"], "for": "5 min",
  "do": {"receiver": "ops"}}');
select qwf.set_alert('many', '{"when": ["lost"], "more_than": 3, "do": {"receiver": "ops"}}');
select pg_temp.happens('worker_dead', 'boat'), pg_temp.happens('ticks_missed', 'engine'),
  pg_temp.happens('server_broken', 'vllm'), pg_temp.happens('lost', 'load');
select qwf.tick();
select results_eq('select pg_temp.seen()', array['boat 1 open ops queued', 'vllm 1',
    'engine 1 open task page queued'], 'one that only counts is none');
create temp table agent as select qwf.register_worker('box-a', 'qwf.alerts', '{"slots": 1,
  "labels": {"receiver.ops": "true"}}') as id;
select qwf.finish(c.job_id, c.token, 'tempfail', null, 'receiver ops: 503')
from agent a, qwf.claim('qwf.alerts', a.id, 1) c;
select results_eq('select pg_temp.seen() limit 1',
  array['boat 1 open ops scheduled receiver ops: 503'], 'a try has failed');
select pg_temp.happens('worker_back', 'boat'), qwf.tick();
select qwf_test.travel('10 min'), qwf.tick();
select results_eq('select pg_temp.seen() limit 1',
  array['boat 1 resolved ops queued closed'], 'the message that it is over is the last one');
update qwf.jobs set status = 'completed', finished_at = qwf.now() where task = 'qwf.send';
select results_eq('select pg_temp.seen() limit 1',
  array['boat 1 resolved ops completed closed'], 'delivered');
delete from qwf.jobs where task = 'qwf.send';
select results_eq('select pg_temp.seen() limit 1', array['boat 1 resolved ops closed'],
  'its job is deleted in time');
set local role qwf_viewer;
select is((select count(*) from qwf.alert_details), 4::bigint,
  'a viewer may look; the agent that is silent meanwhile is the fourth');
