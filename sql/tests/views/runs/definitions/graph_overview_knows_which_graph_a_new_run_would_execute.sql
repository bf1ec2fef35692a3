-- 2 tests
select qwf_test.workflow('w', '[{"id": "a"}]');
select results_eq('select workflow, version, nodes, current from qwf.graph_overview',
  $$ values ('w', 1, 1, true) $$, 'the only one');
select qwf.register_pipeline('{"name": "w", "nodes": [{"id": "a"}, {"id": "b"}]}');
select qwf.enqueue_run('w');
select results_eq('select version, nodes, current from qwf.graph_overview order by id',
  $$ values (1, 1, false), (1, 2, true) $$, 'with the pipeline that is current now');
