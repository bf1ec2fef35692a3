-- 13 tests
create temp table w as select qwf.register_worker('box', 'cpu', '{"writes_begun": true}') as id;
create function pg_temp.begun(p_task text) returns boolean language sql as $$
  select j.begun from qwf.jobs j where j.id = qwf_test.job(p_task) $$;
create function pg_temp.begin(p_task text) returns text language sql as $$
  select qwf.progress(qwf_test.job(p_task), qwf_test.token(p_task), begun => true) $$;
select qwf_test.set_now('2026-01-01 12:00Z');
select qwf.enqueue(t, queue => 'cpu', at_most_once => t <> 'plain')
from unnest('{mail,stopped,lapsed,plain}'::text[]) t;
select results_eq($$ select c.task, c.at_most_once
    from w, qwf.claim('cpu', w.id, 4, startable => 4) c $$,
  $$ values ('mail', true), ('stopped', true), ('lapsed', true), ('plain', false) $$,
  'a worker is told');
select is(pg_temp.begun('mail'), false, 'a claim begins nothing');
set local synchronous_commit = off;
select is(pg_temp.begin('mail'), 'ok', 'it may begin');
select is(current_setting('synchronous_commit'), 'on', 'and it is on disk when it is answered');
select is(pg_temp.begun('mail'), true, 'that it began is written');
select is(pg_temp.begin('mail'), 'ok', 'the same again, after a lost answer');
select is(qwf.progress(qwf_test.job('mail'), gen_random_uuid(), begun => true), 'lost',
  'a stale token begins nothing');
select is(pg_temp.begin('plain'), 'ok', 'an ordinary job may say it');
select is(pg_temp.begun('plain'), null, 'and nothing is kept of it');

select qwf.cancel_job(qwf_test.job('stopped'));
select is(pg_temp.begin('stopped'), 'cancel', 'a job that has to stop does not begin');
select is(pg_temp.begun('stopped'), false, 'so it may run after a retry');
select qwf_test.travel('1 hour');
select is(pg_temp.begin('lapsed'), 'lost', 'nor one whose lease has lapsed');
select is(pg_temp.begun('lapsed'), false, 'so it is lost as any other');
