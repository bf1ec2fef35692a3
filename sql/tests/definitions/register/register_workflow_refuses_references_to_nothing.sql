-- 2 tests
select qwf.register_pipeline('{"name": "p", "outputs": {"boxes": {"$from": "a.boxes"}},
  "nodes": [{"id": "a"}]}');
select qwf.register_pipeline('{"name": "none", "nodes": []}');
select qwf.register_pipeline('{"name": "reader", "nodes": [{"id": "n", "inputs": {
  "x": {"$from": "pipeline.x"}, "y": {"$from": "pipeline.y", "$default": 1},
  "z": {"$coalesce": [{"$from": "pipeline.z"}, 2]}}}]}');
select results_eq($$ select qwf_test.problems('workflow', '{"name": "w", "steps": [
  {"id": "one", "kind": "pipeline", "pipeline": "p"},
  {"id": "ask", "kind": "input", "widget": "confirm", "target": "sure"},
  {"id": "empty", "kind": "pipeline", "pipeline": "none"},
  {"id": "two", "kind": "pipeline", "pipeline": "reader", "depends_on": ["one", "ask", "empty"],
   "inputs": {"a": {"$from": "one.boxs"}, "b": {"$from": "one/z.k"}, "c": {"$from": "nope/z.k"},
     "d": {"$from": "ask.shure"}, "e": {"$from": "empty.k"}, "f": {"$from": "pipeline.x"},
     "g": {"$from": "ask.files"}, "h": {"$from": "item"}}}]}') p order by p $$, array[
  'steps[3].inputs.a: step "one" does not export "boxs"',
  'steps[3].inputs.b: there is no "one/z"',
  'steps[3].inputs.c: there is no "nope/z"',
  'steps[3].inputs.d: step "ask" has only "sure"',
  'steps[3].inputs.e: step "empty" has no nodes',
  'steps[3].inputs.f: "pipeline" cannot be read here',
  'steps[3].inputs.g: step "ask" has only "sure"',
  'steps[3].inputs.h: "item" cannot be read here',
  'steps[3].pipeline.nodes[0].inputs.x: the step does not give the input "x"'],
  'each with its own reason');
select is_empty($$ select qwf_test.problems('workflow', '{"name": "w", "steps": [
  {"id": "one", "kind": "pipeline", "pipeline": "p"},
  {"id": "two", "kind": "pipeline", "pipeline": "reader", "depends_on": ["one"],
   "inputs": {"x": {"$from": "photo.path"}, "b": {"$from": "one.boxes.0"},
   "c": {"$from": "one.files"},
     "d": {"$from": "one/a.anything"}}}]}') $$, 'any other name may be run context');
