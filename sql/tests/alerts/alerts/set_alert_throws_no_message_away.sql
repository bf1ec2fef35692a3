-- 14 tests
-- What is due and was not told stays open: while the hour is full, while its rule raises, and in a
-- tick that takes longer than `within`. What waits through a whole hour stands in its storm.
create function pg_temp.happens(p_times int, p_kind text default 'run_ended', p_subject text
  default 'w') returns void language sql as $$
  insert into _qwf.event_log (at, kind, subject, names, detail)
  select qwf.now(), p_kind, p_subject || n, '{"notify": "ada"}', '{"status": "completed"}'
  from generate_series(1, p_times) n;
  select qwf.tick() $$;
create function pg_temp.told() returns setof text language sql as $$
  select concat_ws(' ', m.rule, m.state, count(*), case when m.state = 'storm'
    then max(j.inputs #>> '{message,count}') end)
  from qwf.alert_messages m join qwf.jobs j on j.id = m.sent_job
  where m.created_at = qwf.now() group by m.rule, m.state order by m.rule, m.state $$;
create function pg_temp.closed_untold() returns bigint language sql as $$
  select count(*) from qwf.open_alerts where closed_at is not null and messages = 0 $$;

select qwf_test.set_now('2030-01-01');
select pg_temp.happens(30);
select results_eq('select pg_temp.told()',
  array['qwf.notify.ada open 20', 'qwf.notify.ada storm 1 10'], 'twenty, and how many are left');
select qwf_test.travel('59 min'), qwf.tick();
select is((select count(*) from qwf.alert_details where closed_at is null), 10::bigint,
  'these stay open');
select qwf_test.travel('61 s'), qwf.tick();
select results_eq('select pg_temp.told()', array['qwf.notify.ada open 10'], 'and are told');
select is((select closed_at is null and close_at - qwf.now() = '1 s' from qwf.alert_details
  order by id desc limit 1), true, '`within` counts from the message');
select qwf_test.travel('1 s'), qwf.tick();
select is((select count(*) from qwf.alert_details where closed_at is null), 0::bigint,
  'then they close');

select qwf_test.travel('1 day'), pg_temp.happens(50), qwf_test.travel('30 min'),
  pg_temp.happens(5), qwf_test.travel('31 min'), qwf.tick();
select results_eq('select pg_temp.told()',
  array['qwf.notify.ada open 20', 'qwf.notify.ada storm 1 15'], 'the next hour counts all');
select is(pg_temp.closed_untold(), 15::bigint, 'and what it has counted is over');

select qwf_test.travel('1 day');
select qwf.set_alert('own', '{"when": ["lost"], "by": "event", "within": "1 s",
  "do": {"task": "page"}}');
update qwf.alerts set rule = jsonb_set(rule, '{do,queue}', '"gone"') where name = 'own';
select pg_temp.happens(1, 'lost', 'box');
select is((select last_error is not null from qwf.alerts where name = 'own'), true,
  'the rule raises');
select qwf_test.travel('5 s'), qwf.tick(), qwf_test.travel('5 s'), qwf.tick();
update qwf.alerts set rule = rule #- '{do,queue}' where name = 'own';
select qwf_test.travel('1 min'), qwf.tick();
select results_eq('select pg_temp.told()', array['own open 1'], 'it tells when it is right again');

select qwf.set_alert('own', '{"when": ["worker_dead"], "calm": "10 min", "for": "5 min",
  "do": {"task": "page"}}');
select pg_temp.happens(1, 'worker_dead', 'box'), pg_temp.happens(1, 'worker_back', 'box');
select qwf_test.travel('1 day'), qwf.tick();
select results_eq('select pg_temp.told()', array['own open 1'],
  'no tick came between: it was due before it was over');
select qwf.tick();
select results_eq('select pg_temp.told()', array['own open 1', 'own resolved 1'],
  'which is told next');
select qwf.set_alert('own', '{"when": ["question_asked"], "do": {"task": "page"}}');
select qwf.enqueue('ask');
create temp table asked as select max(id) as job from qwf.jobs;
create function pg_temp.answers(p_kind text) returns void language sql as $$
  insert into _qwf.event_log (at, kind, job_id) select qwf.now(), p_kind, job from asked;
  select qwf.tick() $$;
select pg_temp.answers('question_asked'), pg_temp.answers('question_answered'),
  qwf_test.travel('1 min'), qwf.tick(), pg_temp.answers('question_asked');
select results_eq('select pg_temp.told()', array['own open 1'],
  'a job that asks again is told, however soon');
select qwf.set_alert('own', '{"when": ["lost"], "within": 0.0001, "do": {"task": "page"}}');
select is(rule -> 'within', '0.001', 'no time is rounded to none') from qwf.alerts
where name = 'own';
select is_empty('select * from qwf.check_invariants()', 'invariants');
