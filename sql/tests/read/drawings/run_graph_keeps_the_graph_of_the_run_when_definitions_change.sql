-- 3 tests
select qwf_test.workflow('w', '[{"id": "a", "display_name": "old"}]');
select qwf.enqueue_run('w');
select qwf_test.workflow('w', '[{"id": "a", "display_name": "new"}, {"id": "b"}]');
select is(qwf.run_graph(qwf_test.run()) #>> '{nodes,0,title}', 'old', 'its own title');
select is(jsonb_array_length(qwf.run_graph(qwf_test.run()) -> 'nodes'), 1, 'its own nodes');
select is(qwf.run_graph(qwf_test.run()) #> '{steps,0}', '{"id": "s", "kind": "pipeline",
  "pipeline": "w", "version": 1, "current_version": 2, "needs": []}', 'and how it differs');
