begin;
select plan(2);

select qwf.enqueue('mail');
select qwf_test.as_role('qwf_producer', 'select qwf.change_job(id, priority => 5), qwf.run_next(id)
  from (values (' || qwf_test.job('mail') || ')) j (id)');
select results_eq('select kind, actor, detail from _qwf.event_log order by id',
  format($$ values ('changed', %1$L, '{"priority": 5}'::jsonb),
    ('changed', %1$L, '{"run_next": true}') $$, session_user), 'the login, and what it asked for');
select throws_ok(format('select qwf.change_job(%s, queue => ''nowhere'')', qwf_test.job('mail')),
  'QW006', null, 'what is refused leaves nothing');

select * from finish();
rollback;
