-- 7 tests
select set_eq($$
  select p ->> 'pipeline' as a, p ->> 'path' as b, p ->> 'message' as c from jsonb_array_elements(
    qwf.workflow_graph('{"name": "W", "steps": [
      {"id": "s", "kind": "pipeline", "pipeline": "p", "depends_on": ["t"]},
      {"id": "t", "kind": "pipeline", "pipeline": "q", "inputs": {"x": {"$from": "ask.val"}},
        "depends_on": ["ask"]},
      {"id": "ask", "kind": "input", "widget": "text", "promt": "Why?"},
      {"id": "u", "kind": "pipeline", "pipeline": "gone"}]}', '{
      "p": {"name": "other", "nodes": [{"id": "a", "depends_on": ["b"], "vram_mb": "many"}]},
      "q": {"name": "q", "nodes": [{"id": "a", "limit_by": "api"}]},
      "unused": 7}') -> 'problems') p $$, $$ values
  (null, 'name', '"W" is not a valid name'),
  (null, 'steps[2].promt', 'unknown key'),
  (null, 'steps[3].pipeline', 'there is no pipeline "gone"'),
  (null, 'steps[1].inputs.x', 'step "ask" has only "value"'),
  ('p', 'name', 'is not "p"'),
  ('p', 'nodes[0].depends_on[0]', 'there is no "b"'),
  ('p', 'nodes[0].vram_mb', 'must be of type integer, not string'),
  ('p', 'nodes[0].vram_mb', 'needs a queue with a GPU'),
  ('q', 'nodes[0].limit_by', 'there is no limit "api"'),
  ('unused', 'definition', 'must be an object') $$, 'all at once');
select is(qwf.workflow_graph('{"name": "w", "steps": [{"id": "a", "kind": "input",
  "widget": "text", "promt": 1}]}') #>> '{problems,0,hint}', 'did you mean prompt?',
  'with a hint');
select is(jsonb_array_length(qwf.workflow_graph('{"name": "w", "steps": [
  {"id": "a", "kind": "input", "widget": "text"}, {"id": "a", "kind": "input", "widget": "nope"},
  {"id": "b", "kind": "input", "depends_on": ["b"]}]}') -> 'nodes'), 1,
  'what can be compiled is drawn');
select is(qwf.workflow_graph(v) #>> '{problems,0,path}', 'definition', v::text || ' is one problem')
from (values ('7'::jsonb), ('null')) bad (v);
select is(qwf.workflow_graph('{"name": "w", "steps": []}', '[1]') -> 'problems',
  '[{"path": "pipelines", "message": "must be an object of definitions by name"}]',
  'pipelines that are no object');
select is(qwf.workflow_graph('{"name": "w", "steps": [{"id": "s", "kind": "pipeline",
  "pipeline": "p", "inputs": {"n": "many"}}]}', '{"p": {"name": "p", "nodes": [],
  "inputs": {"properties": {"n": {"type": "integer"}}}}}') -> 'problems', '[{
  "path": "steps[0].inputs.n", "message": "must be of type integer, not string"}]',
  'what only compiling finds');
