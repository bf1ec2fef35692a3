-- 9 tests
select qwf_test.set_now('2030-01-01');
select qwf.register_workflow('{"name": "w", "steps": [{"id": "a", "node": "a", "queue": "cpu"}]}');
create function pg_temp.ran(p_seconds int, p_outcome text default 'completed') returns void
language plpgsql as $$
declare
  v_run bigint := qwf.enqueue_run('w');
  v_job qwf.claimed_job;
begin
  select c.* into v_job from qwf.claim('cpu', pg_temp.me()) c;
  perform qwf_test.travel(p_seconds * interval '1 s');
  perform qwf.finish(v_job.job_id, v_job.token, p_outcome,
    detail => jsonb_build_object('body_s', p_seconds / 2.0));
end $$;
create function pg_temp.me() returns text language sql as $$
  select w.id from qwf.workers w limit 1 $$;
select qwf.register_worker('box', 'cpu');

select pg_temp.ran(10) from generate_series(1, 9);
select _qwf.number_events(), _qwf.learn_runs();
select results_eq($$ select runs, round(p50), last_status, last_seconds, late_after
  from qwf.usual where kind = 'run' $$,
  $$ values (9::bigint, 10::double precision, 'completed', 10::real, null::float8) $$,
  'nine runs are too few to say what is late');
select pg_temp.ran(10);
select pg_temp.ran(10000, 'fatal');
select _qwf.number_events(), _qwf.learn_runs();
select results_eq($$ select runs, longest, last_status, last_seconds, round(late_after::numeric)
  from qwf.usual where kind = 'run' $$,
  $$ values (10::bigint, 10::real, 'failed', 10000::real, 70::numeric) $$,
  'one that failed is the last, but does not count');
select is((select jsonb_array_length(last) from qwf.usual where kind = 'run'), 11, 'all are kept');
select is((select last #>> '{0,status}' from qwf.usual where kind = 'run'), 'failed',
  'the newest first');
select is((select last_success from qwf.usual where kind = 'run'),
  timestamptz '2030-01-01 00:01:40',
  'the last success is the one before');
select is(_qwf.learn_runs(), 0, 'an event counts once');
select results_eq($$ select node, runs, round(p50), last_status from qwf.usual
    where kind = 'node' $$, $$ values ('a', 10::bigint, 5::double precision, 'failed') $$,
  'the time of a node is that of its body');
select qwf.retry_run(qwf_test.run());
select qwf_test.travel('1 h');
do $$ declare v_job qwf.claimed_job; begin
  select c.* into v_job from qwf.claim('cpu', pg_temp.me()) c;
  perform qwf.finish(v_job.job_id, v_job.token, 'completed');
end $$;
select _qwf.number_events(), _qwf.learn_runs();
select results_eq($$ select jsonb_array_length(last), last #>> '{0,status}'
  from qwf.usual where kind = 'run' $$, $$ values (11, 'completed') $$,
  'a run that was retried is one of them still');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
