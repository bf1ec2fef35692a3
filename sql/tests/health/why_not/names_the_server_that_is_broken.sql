-- 2 tests
create temp table worker as select qwf.register_worker('box', 'llm', '{"models": [], "servers": [
  {"name": "vllm", "kind": "openai", "parallel": 8, "models": {"qwen": 9500}}]}') as id;
select qwf.heartbeat(id, stats => '{"servers": [{"name": "vllm", "state": "broken",
  "model": "qwen", "error": "exit 1: CUDA out of memory\nloading qwen"}]}') from worker;
create temp table job as select qwf.enqueue('llm', queue => 'llm', model => 'qwen') as id;
create temp table other as select qwf.enqueue('llm', queue => 'llm', model => 'other') as id;
select ok(exists (
    select from job, qwf.why_not(job.id) w
    where to_jsonb(w)::text like
      '%its server vllm could serve qwen, but is broken: exit 1: CUDA out of memory"%'), 'broken');
select ok(exists (
    select from other, qwf.why_not(other.id) w
    where to_jsonb(w)::text like '%it does not know model other%'), 'another model');
