-- 6 tests
select qwf.register_pipeline('{"name": "detect",
  "inputs": {"type": "object", "required": ["image"], "properties": {
    "image": {"type": "string"}, "min_score": {"type": "number", "default": 0.5}}},
  "outputs": {"candidates": {"$from": "annotate.candidates"}},
  "nodes": [
    {"id": "fetch", "node": "sv_fetch", "inputs": {"src": {"$from": "pipeline.image"}}},
    {"id": "detect", "node": "sv_detect", "depends_on": ["fetch"], "gpu": true,
     "model": "face-detector", "inputs": {"image": {"$from": "fetch.primary_file"}}},
    {"id": "annotate", "node": "sv_annotate", "depends_on": ["detect"],
     "inputs": [{"name": "boxes", "from": "detect.boxes"}], "timeout": "10 min",
     "retry": {"max_attempts": 3, "backoff": [5, 30, 120]}}]}');
select qwf.register_pipeline('{"name": "reconstruct",
  "nodes": [{"id": "build", "inputs": {"pick": {"$from": "pipeline.pick"}}}]}');
select is(qwf.register_workflow('{"name": "streetview_inspect", "steps": [
  {"id": "detect", "kind": "pipeline", "pipeline": "detect",
   "inputs": {"image": {"$from": "photo.path"}}},
  {"id": "choose_best", "kind": "input", "widget": "choose_one", "target": "selection",
   "depends_on": ["detect"], "prompt": "Which detection?",
   "source": {"$from": "detect.candidates"}},
  {"id": "reconstruct", "kind": "pipeline", "pipeline": "reconstruct",
    "depends_on": ["choose_best"],
   "inputs": {"pick": {"$from": "choose_best.selection"}},
   "skip_if": {"$from": "choose_best.selection", "$eq": "none"}}]}'), 1, 'is registered');
select is(qwf_test.edges('streetview_inspect'),
  'detect/fetch>detect/detect detect/detect>detect/annotate detect/annotate>choose_best '
    'choose_best>reconstruct/build', 'steps are connected by leaves and sources');
select results_eq($$
  select idx, node_id, step_id, pipeline, task, queue, dep_count, required_model, ref_nodes
  from qwf.graph_nodes order by idx
$$, $$ values
  (0, 'detect/fetch', 'detect', 'detect', 'sv_fetch', 'cpu', 0, null, '{}'::int[]),
  (1, 'detect/detect', 'detect', 'detect', 'sv_detect', 'gpu', 1, 'face-detector', '{0}'),
  (2, 'detect/annotate', 'detect', 'detect', 'sv_annotate', 'cpu', 1, null, '{1}'),
  (3, 'choose_best', 'choose_best', null, 'input', null, 1, null, '{2}'),
  (4, 'reconstruct/build', 'reconstruct', 'reconstruct', 'build', 'cpu', 1, null, '{3}')
$$, 'nodes in topological order');
select results_eq(
  $$ select inputs, (options).max_attempts, (options).backoff, (options).timeout
    from qwf.graph_nodes where idx = 2 $$,
  $$ values (jsonb '{"boxes": {"$from": ["detect/detect", "boxes"]}}', 3, jsonb '[5, 30, 120]',
    interval '10 min') $$, 'the keys of a node are kept');
select is(n.input_spec, '{"widget": "choose_one", "target": "selection",
  "prompt": "Which detection?", "source": {"$from": ["detect/annotate", "candidates"]}}',
  'an export leads to the node behind it')
from qwf_test.compiled('streetview_inspect', 'choose_best') n;
select is(n.skip_if, '{"$from": ["choose_best", "selection"], "$eq": "none"}',
  'the nodes of a step get its skip_if')
from qwf_test.compiled('streetview_inspect', 'reconstruct/build') n;
