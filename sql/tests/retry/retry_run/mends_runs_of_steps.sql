-- 9 tests
select qwf_test.register_album();
create temp table run as select qwf.enqueue_run('album', '{"list": ["p", "q"]}') as id;
select qwf_test.works(1);
select qwf_test.works(9, '%"q"%');
select is(status::text, 'failed', 'the crop of q fails its run and the run above')
from qwf.runs, run
where runs.id = run.id;
create temp table child as select r.id from qwf.runs r where r.context ->> 'x' = 'q';
-- the workflow of the step gets a node before the one that failed, and one after it
select qwf.register_workflow('{"name": "one", "inputs": {"type": "object", "required": ["x"],
  "properties": {"x": {"type": "string"}, "size": {"type": "integer", "default": 5}}},
  "outputs": {"text": {"$from": "write.text"}, "x": {"$from": "x"}}, "steps": [
  {"id": "crop", "node": "crop2", "inputs": {"x": {"$from": "x"}, "size": {"$from": "size"}}},
  {"id": "write", "node": "write", "depends_on": ["crop"], "inputs": {"x": {"$from": "crop.x"}}},
  {"id": "log", "node": "log", "depends_on": ["write"], "inputs": {"x": {"$from": "x"}}}]}');
select is(because, 'its definition changed', 'a step is changed by the workflow that it runs')
from run, qwf.retry_plan(run.id, latest => true) where node_id = 'each';
select is(verdict, 'reused', 'the scan is reused')
from run, qwf.retry_plan(run.id, latest => true) where node_id = 'scan';
select is(qwf.retry_run(run.id, latest => true), 2, 'each and sum run again') from run;
select is(qwf_test.works(9), 'crop:ok crop:ok write:ok write:ok log:ok log:ok sum:ok',
  'with the definition of now');
select is(status::text, 'completed', 'the run completes') from qwf.runs, run where runs.id = run.id;
select is_empty('select * from qwf.check_invariants()', 'invariants');

-- a run in line takes another definition with it into the line
select qwf.create_limit('narrow', 1);
create temp table lined as
select qwf.enqueue_run('one', '{"x": "q"}', limit_by => 'narrow') as id;
select qwf_test.works(1, '%"q"%');
select qwf.retry_run(lined.id, context => '{"x": "z"}') from lined;
select is(qwf_test.works(9), 'crop:ok write:ok log:ok', 'with other inputs');
select is_empty('select * from qwf.check_invariants()', 'invariants');
