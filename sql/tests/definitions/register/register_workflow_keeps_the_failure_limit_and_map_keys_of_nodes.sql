-- 4 tests
insert into qwf.limits (name, max_running) values ('api', 2);
select qwf.register_pipeline('{"name": "p", "nodes": [
  {"id": "plain"},
  {"id": "each", "depends_on": ["plain"], "map": {"$from": "plain.items"}, "max_parallel": 4.0,
   "min_success": "90%", "limit_by": "api", "on_failure": "continue"},
  {"id": "some", "map": [1, "b"], "min_success": 1, "on_failure": "ask", "vram_mb": 10.0,
   "gpu": true},
  {"id": "last", "depends_on": ["each"], "run_if": "all_done"}]}');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p"}]}');
select is(row(n.on_failure, n.limit_by, n.run_if, n.map, n.max_parallel, n.min_success)::text,
  '(fail,,,,,)', 'no keys') from qwf_test.compiled('w', 's/plain') n;
select is(row(n.on_failure, n.limit_by, n.run_if, n.max_parallel, n.min_success, n.map)::text,
  '(continue,api,,4,90%,"{""$from"": [""s/plain"", ""items""]}")', 'a map')
from qwf_test.compiled('w', 's/each') n;
select is(row(n.on_failure, n.max_parallel, n.min_success, n.map, n.vram_mb)::text,
  '(ask,,1,"[1, ""b""]",10)', 'over a literal list') from qwf_test.compiled('w', 's/some') n;
select is(n.run_if, 'all_done', 'a clean-up node') from qwf_test.compiled('w', 's/last') n;
