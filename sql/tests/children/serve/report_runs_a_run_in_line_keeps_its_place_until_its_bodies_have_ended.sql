-- 16 tests
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "a", "node": "a", "retry": {"max_attempts": 3, "backoff": [0]}},
  {"id": "b", "node": "b"},
  {"id": "after", "node": "after", "depends_on": ["a"]}]}');
select qwf.create_limit('line', 1);
select qwf.register_worker('box', 'cpu');

-- b fails while a runs, which ends in this way; then the run goes on, with nothing failing
create function pg_temp.straggle(p_outcome text, p_tries int, p_does text default 'fail')
returns text language plpgsql as $$
declare
  v_worker text := (select w.id from qwf.workers w);
  v_run bigint := qwf.enqueue_run('w', limit_by => 'line', max_attempts => p_tries,
    backoff => '[0]');
  v_other bigint := qwf.enqueue_run('w', limit_by => 'line');
  v_a record;
  v_job record;
  v_said text;
begin
  for v_job in select * from qwf.claim('cpu', v_worker, 2) order by task loop
    if v_job.task = 'a' then
      v_a := v_job;
    elsif p_does = 'fail' then
      perform qwf.finish(v_job.job_id, v_job.token, 'fatal', error => 'boom');
    else
      perform qwf.cancel_run(v_run), qwf.finish(v_job.job_id, v_job.token, 'cancelled');
    end if;
  end loop;
  select concat_ws(' ', r.status, 'ending', r.ending, h.verdict,
    (select count(*) from qwf.jobs j where j.run_id = o.id), 'nodes',
    (select count(*) from qwf.check_invariants())) into v_said
  from qwf.runs r, qwf.runs o, qwf.heartbeat(v_worker, array[v_a.token]) h
  where r.id = v_run and o.id = v_other;
  perform qwf.finish(v_a.job_id, v_a.token, p_outcome, error => 'late'), qwf.tick();
  v_said := concat_ws(', ', v_said, (select concat_ws(' ', r.status,
      (select count(*) from qwf.jobs j where j.run_id = o.id), 'nodes',
      (select count(*) from qwf.check_invariants()))
    from qwf.runs r, qwf.runs o where r.id = v_run and o.id = v_other));
  for v_round in 1..4 loop
    for v_job in select * from qwf.claim('cpu', v_worker, 9) loop
      perform qwf.finish(v_job.job_id, v_job.token, 'completed');
    end loop;
  end loop;
  return concat_ws(', ', v_said, (select concat_ws(' ', r.status, o.status,
      (select string_agg(e.kind, ' ' order by e.id) from _qwf.event_log e
        where e.run_id = v_run and e.kind in ('retried', 'run_ended')),
      (select count(*) from qwf.check_invariants()))
    from qwf.runs r, qwf.runs o where r.id = v_run and o.id = v_other));
end $$;

select is(pg_temp.straggle(v, 2), 'running ending failed cancel 0 nodes 0, queued 3 nodes 0, '
    || 'completed completed retried run_ended 0', 'a body that is ' || v || ' ends the first try')
from unnest(array['completed', 'released', 'lost', 'error', 'tempfail', 'fatal', 'cancelled']) v;
select is(pg_temp.straggle(v, 1), 'running ending failed cancel 0 nodes 0, failed 3 nodes 0, '
    || 'failed completed run_ended 0', 'the last try: ' || v)
from unnest(array['completed', 'released', 'error', 'fatal']) v;
select is(pg_temp.straggle(v, 2, 'cancel'), 'running ending cancelled cancel 0 nodes 0, '
    || 'cancelled 3 nodes 0, cancelled completed run_ended 0', 'it was cancelled: ' || v)
from unnest(array['completed', 'released', 'cancelled']) v;

-- a run that ends at once, whatever runs
create temp table run as
select qwf.enqueue_run('w', limit_by => 'line', max_attempts => 2, backoff => '[0]') as id;
create temp table held as select * from qwf.claim('cpu', 'w1', 2);
select _qwf.end_run(id, 'failed', 'an event could not be applied', true) from run;
insert into qwf.outbox (run_id, kind) select id, 'stop' from run;
select qwf.tick();
select results_eq($$ select status::text, finished_at is not null from qwf.runs
  where id = (select id from run) $$, $$ values ('failed', true) $$,
  'it stays failed while its bodies run');
select qwf.finish(job_id, token, 'released') from held;
select qwf_test.travel('6 s');
select qwf.tick();
select is((select array_agg(task order by task) from qwf.claim('cpu', 'w1', 9)),
  array['a', 'b'], 'then the next try begins');
