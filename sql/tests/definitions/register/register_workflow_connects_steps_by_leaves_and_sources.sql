-- 2 tests
select qwf.register_pipeline('{"name": "two", "nodes": [{"id": "a"}, {"id": "b"}]}');
select qwf.register_pipeline('{"name": "vee", "nodes": [
  {"id": "a"}, {"id": "b"}, {"id": "c", "depends_on": ["b", "a", "b"]}]}');
select qwf.register_pipeline('{"name": "none", "nodes": []}');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "last", "kind": "pipeline", "pipeline": "vee", "depends_on": ["gap", "first/a"]},
  {"id": "gap", "kind": "pipeline", "pipeline": "none", "depends_on": ["first", "ask"]},
  {"id": "first", "kind": "pipeline", "pipeline": "two"},
  {"id": "ask", "kind": "input", "widget": "confirm", "depends_on": ["first/b"]}]}');
select is(qwf_test.edges('w'),
  'first/a>last/a first/a>last/b first/b>ask first/b>last/a first/b>last/b '
    'ask>last/a ask>last/b last/a>last/c last/b>last/c',
  'a step without nodes passes on what it waits for; each dependency counts once');
select is_empty($$ select from qwf.graph_nodes n
  where n.dep_count <> (select count(*) from qwf.graph_edges e
    where e.graph_id = n.graph_id and e.to_idx = n.idx) $$, 'dependencies are counted');
