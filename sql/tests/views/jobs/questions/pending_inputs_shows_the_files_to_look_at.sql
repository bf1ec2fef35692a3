-- 5 tests
select qwf_test.workflow('w', '[{"id": "draw"}]');
select qwf.register_workflow('{"name": "v", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "w"},
  {"id": "all", "kind": "input", "widget": "confirm", "depends_on": ["s"],
    "show": {"$from": "s/draw.files", "$filter": {"eq:kind": "image"}}},
  {"id": "one", "kind": "input", "widget": "confirm", "depends_on": ["s"],
    "show": {"$from": "s.best"}},
  {"id": "both", "kind": "input", "widget": "confirm", "depends_on": ["s"],
    "show": ["/data/key.png", {"$from": "s.best"}]},
  {"id": "none", "kind": "input", "widget": "confirm", "depends_on": ["s"],
    "show": {"$from": "s.worst", "$default": null}}]}');
select qwf.enqueue_run('v');
select qwf_test.attempt('s/draw', output => '{"best": "/out/a.png"}', detail => '{"host": "box",
  "files": [{"rel_path": "s/draw/a.png", "kind": "image", "size_bytes": 7},
    {"rel_path": "s/draw/a.csv", "kind": "csv", "size_bytes": 8}]}');
create temp view shown as select node_id, show from qwf.pending_inputs;
select is((select show from shown where node_id = 'all'), '[{"rel_path": "s/draw/a.png",
  "kind": "image", "size_bytes": 7, "host": "box", "path": null}]', 'files of a node');
select is((select show from shown where node_id = 'one'), '["/out/a.png"]', 'a path');
select is((select show from shown where node_id = 'both'), '["/data/key.png", "/out/a.png"]',
  'several');
select is((select show from shown where node_id = 'none'), '[]', 'nothing');
select qwf_test.question('confirm');
select is((select show from shown where node_id = 'ask'), '[]', 'and for a question without it');
