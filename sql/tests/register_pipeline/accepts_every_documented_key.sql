begin;
select plan(1);

insert into qwf.limits (name, max_running) values ('api', 2);
select is_empty($$ select qwf_test.problems('pipeline', '{
  "$schema": "x.json", "name": "detect", "display_name": "detect",
  "mode": "node", "requires_gpu": true,
  "inputs": {"type": "object", "required": ["image"], "properties": {
    "image": {"type": "string", "minLength": 1, "maxLength": 99, "pattern": "."},
    "kind": {"type": ["string", "null"], "enum": ["a", null], "title": "t", "description": "d"},
    "min_score": {"type": "number", "default": 0.5, "minimum": 0, "maximum": 1},
    "tags": {"type": "array", "items": {"type": "string"}, "examples": [["x"]]},
    "size": {"type": "object",
    "additionalProperties": false, "properties": {"w": {"minimum": 0}}}}},
  "outputs": {"candidates": {"$from": "annotate.candidates"}, "all": {"x": [{"$from": "fetch"}]},
    "primary_file": {"type": "file", "mime": "text/plain"}, "summary_keys": ["greeted"]},
  "nodes": [
    {"id": "fetch", "node": "sv_fetch", "inputs": {"src": {"$from": "pipeline.image"}, "n": 1}},
    {"id": "detect", "depends_on": ["fetch"], "gpu": true, "model": "m", "vram_mb": 8000,
     "light": true, "requires": {"zone": "a"}, "stall_timeout": "5 min", "queue": "gpu",
     "inputs": {"image": {"$from": "fetch.primary_file"}}},
    {"id": "annotate", "node": "sv_annotate", "depends_on": ["detect"], "gpu": false,
     "inputs": [{"name": "boxes", "from": "detect.boxes"}], "display_name": "d", "kind": "cpu",
     "outputs": [{"name": "hello.txt", "kind": "text"}], "on_failure": "fail",
     "at_most_once": true, "timeout": "10 min",
     "retry": {"max_attempts": 3, "max_losses": 2, "backoff": [5, 30, 120]},
     "skip_if": {"$from": "detect.boxes", "$eq": []}},
    {"id": "each", "depends_on": ["annotate"], "map": {"$from": "annotate.candidates"},
     "max_parallel": 4, "min_success": "90%", "limit_by": "api", "on_failure": "continue",
     "inputs": {"box": {"$from": "item.box"}, "place": {"$from": "index"}}},
    {"id": "some", "map": [1, 2, {"$from": "pipeline.image"}], "min_success": 2,
     "stop_when_reached": true, "on_failure": "ask"},
    {"id": "poll", "inputs": {"last": {"$from": "item"}, "command_": {"$from": "index"}},
     "repeat": {"until": {"$from": "item.ready"}, "max": 720, "every": "30 s"}},
    {"id": "clean_up", "depends_on": ["each"], "delay": "5 min", "run_if": "all_done"},
    {"id": "call", "command": ["do.sh", "--n", 3, {"$from": "pipeline.image"}], "timeout": 90.5,
     "retry": {"backoff": {"base": 1, "factor": 2, "max": 600}}}]}') $$, 'none is refused');

select * from finish();
rollback;
