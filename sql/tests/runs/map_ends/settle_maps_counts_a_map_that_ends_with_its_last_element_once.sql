-- 4 tests
select qwf_test.workflow('w', '[{"id": "x"}, {"id": "y"}, {"id": "m", "map": {"$value": [1]}},
  {"id": "c", "depends_on": ["m", "x", "y"], "run_if": "all_done"}]');
select qwf.enqueue_run('w');
create temp table held as select * from qwf.claim('cpu', 'w', 10);
select qwf.finish_many((select jsonb_agg(jsonb_build_object('job_id', h.job_id, 'token', h.token,
  'outcome', case h.node_id when 's/x' then 'fatal' else 'completed' end))
from held h where h.node_id <> 's/y'));
select is(qwf_test.nodes(), 's/x failed, s/y running, s/m cancelled, s/c blocked, s/m[0] completed',
  'y still runs');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select qwf_test.report('s/y', 'cancelled');
select is(qwf_test.state('s/c'), 'queued', 'now nothing does');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
