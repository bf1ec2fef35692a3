-- 3 tests
select qwf.register_pipeline('{"name": "exports", "inputs": {"properties": {"i": {}}}, "outputs": {
    "k": {"$from": "a.deep.k"}, "i": {"$from": "pipeline.i"}, "both": [{"$from": "a.x"},
    {"$from": "b.x"}],
    "doc": {"type": "file"}},
  "nodes": [{"id": "a"}, {"id": "b"}]}');
select qwf.register_pipeline('{"name": "leaves", "nodes": [
  {"id": "a"}, {"id": "b", "depends_on": ["a"]}, {"id": "c", "depends_on": ["a"]}]}');
select qwf.register_pipeline('{"name": "one", "nodes": [{"id": "a"}]}');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "e", "kind": "pipeline", "pipeline": "exports", "inputs": {"i": {"$from": "photo"}}},
  {"id": "l", "kind": "pipeline", "pipeline": "leaves"},
  {"id": "o", "kind": "pipeline", "pipeline": "one"},
  {"id": "ask", "kind": "input", "widget": "json", "depends_on": ["e", "l", "o"], "source": {
    "export": {"$from": "e.k.0"}, "input": {"$from": "e.i.path"}, "inner": {"$from": "e.both.1.y"},
    "all": {"$from": "e"}, "leaves": {"$from": "l.k"}, "leaf": {"$from": "o.k"},
    "node": {"$from": "l/a.k"}, "files": {"$from": "l.files"},
    "file": {"$from": "e/a.files.0.rel_path"}}}]}');
select is((n.input_spec) -> 'source', '{
  "export": {"$from": ["e/a", "deep", "k", "0"]}, "input": {"$from": ["$context", "photo", "path"]},
  "inner": {"$from": ["e/b", "x", "y"]},
  "all": {"k": {"$from": ["e/a", "deep", "k"]}, "i": {"$from": ["$context", "photo"]},
    "both": [{"$from": ["e/a", "x"]}, {"$from": ["e/b", "x"]}]},
  "leaves": {"$from": [["l/b", "l/c"], "k"]}, "leaf": {"$from": ["o/a", "k"]},
  "node": {"$from": ["l/a", "k"]}, "files": {"$from": ["$files", "l"]},
  "file": {"$from": ["$files", "e/a", "0", "rel_path"]}}', 'absolute paths')
from qwf_test.compiled('w', 'ask') n;
select results_eq($$
  select r.node_id from qwf.graph_nodes n join qwf.graph_nodes r
    on r.graph_id = n.graph_id and r.idx = any (n.ref_nodes)
  where n.node_id = 'ask' order by r.node_id $$,
  array['e/a', 'e/b', 'l/a', 'l/b', 'l/c', 'o/a'], 'the nodes it reads are listed');
select is(n.ref_files, '{e/a,l}', 'and the files') from qwf_test.compiled('w', 'ask') n;
