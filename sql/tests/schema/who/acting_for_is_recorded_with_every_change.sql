-- 14 tests
select set_config('qwf.acting_for', 'ada', true);
select qwf_test.question('confirm'), qwf.enqueue('mail'), qwf.enqueue('print');
select is(concat_ws('/', login, acting_for), qwf_test.login() || '/ada', 'a job')
from qwf.jobs where task = 'mail';
select is(concat_ws('/', login, acting_for), qwf_test.login() || '/ada', 'a run') from qwf.runs;
select is(concat_ws('/', login, acting_for), '', 'not its nodes, which the run stands for')
from qwf.jobs where run_id is not null limit 1;
select qwf_test.as_role('qwf_producer', format($$
  select qwf.change_job(%1$s, priority => 5), qwf.change_job(%1$s, run_next => true),
    qwf.cancel_job(%1$s), qwf.retry_job(%1$s) $$, qwf_test.job('mail')));
select is(array_agg(distinct concat_ws('/', e.login, e.acting_for)),
  array[qwf_test.login() || '/ada'],
  'a change of a job')
from _qwf.event_log e where e.job_id = qwf_test.job('mail');
select is((select count(*) from _qwf.event_log e where e.job_id = qwf_test.job('mail')), 4::bigint,
  'each of four');

select qwf_test.claim('default', 2);
select qwf.cancel_job(qwf_test.job('print'));
select is(concat_ws('/', login, acting_for), qwf_test.login() || '/ada', 'a request to cancel')
from qwf.cancel_requests;

select qwf.submit_input(qwf_test.run(), 'ask', 'true', acting_for => 'bob');
select is(concat_ws('/', login, acting_for), qwf_test.login() || '/bob',
  'an answer; an argument counts for its call')
from qwf.input_answers;
select is(current_setting('qwf.acting_for'), 'ada', 'and no longer');
select qwf.enqueue_run('question');
select qwf.cancel_run(max(r.id)) from qwf.runs r;
select is((select r.error from qwf.runs r order by r.id desc limit 1),
  format('cancelled by %I, acting for ada', qwf_test.login()), 'the end of a cancelled run');

select qwf.worker_control('box-a', 'cpu', 'off'), qwf.worker_control('box-b', 'cpu', 'off',
  acting_for => 'bob');
set local role qwf_admin;
insert into qwf.worker_controls (host_label, queue, desired_state, login)
values ('box-c', 'cpu', 'off', 'mallory');
reset role;
select results_eq('select host, login, acting_for from qwf.order_overview order by 1',
  $$ values ('box-a', qwf_test.login(), 'ada'), ('box-b', qwf_test.login(), 'bob'),
    ('box-c', qwf_test.login(), 'ada') $$,
  'an order, also one written by hand, which cannot choose the login');
select results_eq($$ select subject, login, acting_for from _qwf.event_log
  where kind = 'worker_off' order by 1 $$,
  $$ values ('box-a', qwf_test.login(), 'ada'), ('box-b', qwf_test.login(), 'bob'),
    ('box-c', qwf_test.login(), 'ada') $$, 'and the event of each');

select set_config('qwf.acting_for', E'ada\u202E', true);
select qwf.worker_control('box-a', 'cpu', 'on');
select is((select e.acting_for from _qwf.event_log e order by e.id desc limit 1), null,
  'an unreadable name is left out');
select throws_ok($$ select qwf.worker_control('box-a', 'cpu', 'off', acting_for => E'a\nb') $$,
  'QW005', 'invalid name', 'and refused as an argument');
select throws_ok($$ select qwf.worker_control('box-a', 'cpu', 'off', acting_for => '') $$,
  'QW005', 'invalid name', 'as an empty one is');
