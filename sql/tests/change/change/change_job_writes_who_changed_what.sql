-- 3 tests
select qwf.enqueue('mail');
select qwf_test.as_role('qwf_producer', '
  select qwf.change_job(id, priority => 5), qwf.change_job(id, run_next => true)
  from (values (' || qwf_test.job('mail') || ')) j (id)');
select results_eq('select kind, login, detail from _qwf.event_log order by id',
  $$ values ('changed', qwf_test.login(),
      '{"old": {"priority": 100}, "new": {"priority": 5}}'::jsonb),
    ('changed', qwf_test.login(), '{"old": {"run_next": false}, "new": {"run_next": true}}') $$,
  'the login, and what differs');
select qwf.change_job(qwf_test.job('mail'), priority => 5),
  qwf.change_job(qwf_test.job('mail'), run_next => true);
select is((select count(*) from _qwf.event_log), 2::bigint, 'nothing differs: no event');
select throws_ok(format('select qwf.change_job(%s, queue => ''nowhere'')', qwf_test.job('mail')),
  'QW006', null, 'what is refused leaves nothing');
