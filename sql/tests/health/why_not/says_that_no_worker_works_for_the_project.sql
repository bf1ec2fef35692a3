-- 3 tests
select qwf.register_worker('box', 'cpu', '{"project": "beta"}'),
  qwf.register_worker('box', 'cpu', '{"project": ""}');
select qwf.enqueue('a', queue => 'cpu', project => 'alpha');
create function pg_temp.why(p_job text) returns setof text language sql as $$
  select regexp_replace(w, ':[0-9a-f]{8}', '') from qwf.why_not(qwf_test.job(p_job)) w
$$;
select set_eq($$ select pg_temp.why('a') $$, $$ values
  ('no worker of project alpha serves queue cpu: start one with qwf agent --queue cpu '
    '--project alpha'),
  ('worker box:cpu cannot take it: it works for project beta, the job belongs to project alpha'),
  ('worker box:cpu cannot take it: it works for jobs without a project, the job belongs to project '
    'alpha') $$, 'first what all workers lack, and then each');
select qwf.deregister_worker(id) from qwf.workers where project = '';
select qwf.enqueue('b', queue => 'cpu');
select set_eq($$ select pg_temp.why('b') $$, $$ values
  ('no worker of queue cpu takes jobs without a project: start one with qwf agent --queue cpu'),
  ('worker box:cpu cannot take it: it works for project beta, the job has no project') $$,
  'also for a job without one');
select qwf.register_worker('box', 'cpu');
select is_empty($$ select w from qwf.why_not(qwf_test.job('a')) w where w ~ 'project' $$,
  'a worker that announces none takes all');
