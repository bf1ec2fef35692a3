-- 8 tests
select qwf_test.set_now('2030-01-01');
select qwf_test.workflow('w', '[{"id": "a", "display_name": "first"},
  {"id": "m", "depends_on": ["a"], "map": {"$value": [1, 2, 3]}, "min_success": 1},
  {"id": "z", "depends_on": ["m"]}]');
select qwf.enqueue_run('w');
create temp view graph as select qwf.run_graph(qwf_test.run()) as g;
select is(g - array['nodes', 'run_id', 'graph_id'], '{"workflow": "w", "version": 1,
  "status": "queued", "ending": null, "edges": [[0, 1], [1, 2]],
  "steps": [{"id": "s", "kind": "pipeline", "pipeline": "w", "version": 1, "current_version": 1,
    "needs": []}]}', 'the run, its steps and edges') from graph;
select is((g #> '{nodes,0}') - 'job_id', '{"idx": 0, "id": "s/a", "step": "s", "title": "first",
  "pipeline": "w", "task": "a", "queue": "cpu", "status": "queued", "attempt": 0}', 'a node')
from graph;
select qwf_test.attempt('s/a');
select qwf_test.claim('cpu', 2);
select qwf_test.report('s/m[0]', 'fatal', error => e'it broke\nin a line');
select is(g #> '{nodes,1,elements}', '{"failed": 1, "running": 1, "queued": 1}',
  'a map counts its elements') from graph;
select is(jsonb_array_length(g -> 'nodes'), 3, 'and is one node') from graph;
select qwf_test.report('s/m[1]'), qwf_test.claim(), qwf_test.report('s/m[2]');
select is(g #> '{nodes,1,elements}', '{"failed": 1, "completed": 2}', 'when it has ended too')
from graph;
select qwf_test.claim(), qwf_test.report('s/z', 'fatal',
  error => e'Traceback (most recent call last):\n  File "x"\nValueError: no such image\n');
select is(g #>> '{nodes,2,error}', 'ValueError: no such image', 'an error is one line') from graph;
select is(qwf.run_graph(qwf_test.run(), states_only => true) - array['run_id', 'graph_id', 'nodes'],
  '{"workflow": "w", "version": 1, "status": "failed", "ending": null}', 'without what stays');
select is(qwf.run_graph(qwf_test.run(), states_only => true) #> '{nodes,2}',
  (select (g #> '{nodes,2}') - array['id', 'step', 'task', 'queue', 'pipeline'] from graph),
  'the states alone');
