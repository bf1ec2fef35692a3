-- 4 tests
select qwf_test.set_now('2030-01-01');
select qwf_test.workflow('diamond', '[
  {"id": "a", "node": "fetch"}, {"id": "b", "depends_on": ["a"], "gpu": true}, {"id": "c",
    "depends_on": ["a"]},
  {"id": "d", "depends_on": ["b", "c"], "timeout": "5 min", "model": "flux", "queue": "gpu",
    "vram_mb": 8000,
   "requires": {"disk": "nvme"}, "retry": {"max_attempts": 3, "max_losses": 2, "backoff": [5]},
   "at_most_once": true}]');
create temp table made as
select qwf.enqueue_run('diamond', '{"who": "ada"}', priority => 7, out_dir => '/data',
  project => 'p', labels => '{"n": 1}')
  as id;
select results_eq($$
  select id, workflow, workflow_version, status::text, project, priority, context, labels, out_dir,
    node_count, open_nodes,
    active_nodes, waiting_nodes, created_at, started_at, finished_at
  from qwf.runs
$$, $$
  select id, 'diamond', 1, 'queued', 'p', 7, '{"who": "ada"}'::jsonb, '{"n": 1}'::jsonb, '/data', 4,
    4, 1, 0,
    '2030-01-01'::timestamptz, null::timestamptz, null::timestamptz
  from made
$$, 'the run, whose id it returns');
select results_eq($$
  select node_id, task, queue, status::text, remaining_deps, priority, project, labels, login
  from qwf.job_details order by id
$$, $$
  values ('s/a', 'fetch', 'cpu', 'queued', 0, 7, 'p', '{"n": 1}'::jsonb, null::text),
    ('s/b', 'b', 'gpu', 'blocked', 1, 7, 'p', '{"n": 1}', null),
    ('s/c', 'c', 'cpu', 'blocked', 1, 7, 'p', '{"n": 1}', null),
    ('s/d', 'd', 'gpu', 'blocked', 2, 7, 'p', '{"n": 1}', null)
$$, 'its nodes, those that depend on nothing queued');
select results_eq($$
  select timeout, required_model, vram_mb, requires, max_attempts, max_losses, backoff, begun
  from qwf.job_details where node_id = 's/d'
$$, $$
  values (interval '5 min', 'flux', 8000, '{"disk": "nvme"}'::jsonb, 3, 2, '[5]'::jsonb, false)
$$, 'with what the definition says of them');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
