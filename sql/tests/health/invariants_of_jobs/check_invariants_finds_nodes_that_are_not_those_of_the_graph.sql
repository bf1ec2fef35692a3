-- 4 tests
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "m", "depends_on": ["a"], "map": [1, 2]}]');
select qwf.enqueue_run('w');
select qwf_test.work();
select qwf_test.workflow('w', '[{"id": "b"}, {"id": "m", "depends_on": ["b"], "map": [1, 2]}]');
select is_empty('select * from qwf.check_invariants()', 'a run keeps its graph');
create temp table graph as select max(id) as id from qwf.graphs;
update qwf.runs set graph_id = (select id from graph);
select bag_eq('select distinct invariant from qwf.check_invariants()',
  $$ values ('the nodes of a run are those of its graph') $$, 'its jobs have another');
update qwf.jobs set graph_id = (select id from graph);
select results_eq('select invariant, subject from qwf.check_invariants()', format(
  $$ values ('the nodes of a run are those of its graph', 'job %s') $$, qwf_test.job('s/a')),
  'there is no node a in it');
update qwf.jobs set node_id = 's/b' where node_id = 's/a';
update qwf.jobs set node_id = 's/m[7]' where node_id = 's/m[0]';
select results_eq('select invariant from qwf.check_invariants()',
  $$ values ('an element is one of its map') $$, 'nor an element 7 of m');
