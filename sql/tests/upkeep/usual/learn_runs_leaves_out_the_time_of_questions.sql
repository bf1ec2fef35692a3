-- 2 tests
select qwf_test.set_now('2030-01-01');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "a", "node": "a", "queue": "cpu"},
  {"id": "q", "kind": "input", "widget": "confirm", "depends_on": ["a"]}]}');
select qwf.register_worker('box', 'cpu');
select qwf.enqueue_run('w');
do $$ declare v_job qwf.claimed_job; begin
  select c.* into v_job from qwf.claim('cpu', (select w.id from qwf.workers w)) c;
  perform qwf_test.travel('20 s');
  perform qwf.finish(v_job.job_id, v_job.token, 'completed');
  perform qwf_test.travel('3 days');
  perform qwf.submit_input(qwf_test.run(), 'q', 'true');
end $$;
select _qwf.number_events(), _qwf.learn_runs();
select is((select last_status from qwf.usual where kind = 'run'), 'completed', 'it has completed');
select is((select last_seconds from qwf.usual where kind = 'run'), 20::real,
  'three days of thought are not the time of the run');
