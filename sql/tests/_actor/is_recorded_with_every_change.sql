begin;
select plan(8);

select set_config('qwf.actor', 'ada', true);
create function pg_temp.ada() returns text
language sql
as $$ select session_user || ' for ada' $$;
select qwf_test.question('confirm'), qwf.enqueue('mail'), qwf.enqueue('print');
select qwf_test.as_role('qwf_producer', format($$
  select qwf.change_job(%1$s, priority => 5), qwf.run_next(%1$s), qwf.cancel_job(%1$s),
    qwf.retry_job(%1$s) $$, qwf_test.job('mail')));
select is(array_agg(distinct e.actor), array[pg_temp.ada()], 'a change of a job')
from _qwf.event_log e where e.job_id = qwf_test.job('mail');
select is((select count(*) from _qwf.event_log e where e.job_id = qwf_test.job('mail')), 4::bigint,
  'each of four');

select qwf_test.claim('default', 2);
select qwf.cancel_job(qwf_test.job('print'));
select is((select c.requested_by from qwf.cancel_requests c), pg_temp.ada(), 'a request to cancel');

select qwf.submit_input(qwf_test.run(), 'ask', 'true');
select is((select a.answered_by from qwf.input_answers a), pg_temp.ada(), 'an answer');
select qwf.enqueue_run('question');
select qwf.cancel_run(max(r.id)) from qwf.runs r;
select is((select r.error from qwf.runs r order by r.id desc limit 1),
  'cancelled by ' || pg_temp.ada(), 'the end of a cancelled run');

select qwf.worker_control('box-a', 'cpu', 'off'), qwf.worker_control('box-b', 'cpu', 'off',
  by => 'bob');
set local role qwf_admin;
insert into qwf.worker_controls (host_label, queue, desired_state) values ('box-c', 'cpu', 'off');
reset role;
select results_eq('select host_label, requested_by from qwf.worker_controls order by 1',
  $$ values ('box-a', pg_temp.ada()), ('box-b', 'bob'), ('box-c', pg_temp.ada()) $$,
  'an order, also one written by hand; a name that is given stays');
select is_empty($$ select * from _qwf.event_log e
  where e.kind like 'worker%' and e.actor <> pg_temp.ada() $$, 'and the event of each');

select set_config('qwf.actor', E'ada\u202E', true);

select qwf.worker_control('box-a', 'cpu', 'on');
select is((select e.actor from _qwf.event_log e order by e.id desc limit 1), session_user::text,
  'an unreadable name is left out');

select * from finish();
rollback;
