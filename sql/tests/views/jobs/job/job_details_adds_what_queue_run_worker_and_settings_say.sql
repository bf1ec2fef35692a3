-- 5 tests
select qwf_test.set_now('2030-01-01');
select qwf.create_queue('cpu', lease => '1 min', timeout => '5 min', on_failure => 'ask');
select qwf_test.workflow('w', '[{"id": "a", "queue": "cpu", "retry": {"max_attempts": 2}}]');
select qwf.enqueue_run('w', out_dir => '/data/w');
select qwf.register_worker('box', 'cpu');
select qwf.claim('cpu', (select w.id from qwf.workers w));
select qwf_test.travel('2.5 s');
select results_eq($$
  select workflow, run_status::text, out_dir, host, seconds, lease, lease_left
  from qwf.job_details where node_id = 's/a'
$$, $$
  values ('w', 'running', '/data/w', 'box', 2.5::float8, interval '1 min', interval '57.5 s')
$$, 'its run, its box and its lease');
select results_eq($$
  select error_tries, transient_tries, loss_tries, error_backoff, time_limit, failure_means
  from qwf.job_details where node_id = 's/a'
$$, $$ values (2, 2, 3, '[1, 5, 30]'::jsonb, interval '5 min', 'fail') $$,
  'what it says itself, else its queue, else the settings');
select qwf.cancel_job(qwf_test.job('s/a'));
select results_eq($$
  select stop_login, stop_at from qwf.job_details where node_id = 's/a'
$$,
  $$ values (qwf_test.login(), '2030-01-01 00:00:02.5'::timestamptz) $$, 'who asked to stop it');
select qwf.enqueue('b', queue => 'cpu');
select qwf.pause_queue('cpu');
select results_eq($$
  select host, seconds, released, workflow, queue_paused, failure_means, stop_login
  from qwf.job_details where task = 'b'
$$, $$ values (null, null::float8, 0, null, true, 'ask', null) $$,
  'a job that waits has no more');
select qwf.resume_queue('cpu');
select qwf_test.claim();
select qwf_test.report('b', 'released');
select is(released, 1, 'an attempt that was given back is counted')
from qwf.job_details where task = 'b';
