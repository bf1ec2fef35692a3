-- 3 tests
create temp table worker as select qwf.register_worker('box', 'llm', '{"models": ["qwen"],
  "servers": [{"name": "ollama", "kind": "ollama", "parallel": 8,
    "models": {"qwen": null, "gemma": null}}]}') as id;
select qwf.heartbeat(id, stats => '{"servers": [{"name": "ollama", "state": "ready",
  "lacks": {"gemma": "gemma is not pulled yet: qwf worker load gemma --host box"}}]}')
from worker;
create temp table job as select qwf.enqueue('llm', queue => 'llm', model => 'gemma') as id;
select ok(exists (
    select from job, qwf.why_not(job.id) w
    where to_jsonb(w)::text like '%its server ollama could serve gemma, but gemma is not pulled '
      'yet: qwf worker load gemma --host box"%'), 'what its server says of the model');
select is((select lacks from qwf.server_overview),
  '{"gemma": "gemma is not pulled yet: qwf worker load gemma --host box"}', 'in the view');
select qwf.heartbeat(id, stats => '{"servers": [{"name": "ollama", "lacks": 7}]}') from worker;
select is((select lacks from qwf.server_overview), '{}', 'nonsense breaks nothing');
