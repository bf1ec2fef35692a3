-- 7 tests
create temp table worker as select qwf.register_worker('box', 'llm', '{"servers": [
  {"name": "vllm", "kind": "openai", "parallel": 8, "models": {"qwen": 9500}}]}') as id;
select is((select servers #>> '{0,name}' from qwf.workers), 'vllm', 'kept');
select qwf.update_worker(id, '{"models": []}') from worker;
select is((select jsonb_array_length(servers) from qwf.workers), 1, 'an update without them');
select qwf.update_worker(id, '{"servers": []}') from worker;
select is((select servers from qwf.workers), '[]'::jsonb, 'an update with them');
select throws_ok($$ select qwf.register_worker('box', 'llm', '{"servers": {}}') $$, 'QW005',
  'invalid worker', 'no list');
select throws_ok($$ select qwf.register_worker('box', 'llm', '{"servers": [
  {"name": "x", "kind": "openai", "parallel": 0, "models": {}}]}') $$, 'QW005', 'invalid worker',
  'no place');
select throws_ok($$ select qwf.register_worker('box', 'llm', '{"servers": [
  {"name": "x", "kind": "grpc", "parallel": 1, "models": {}}]}') $$, 'QW005', 'invalid worker',
  'an unknown kind');
select throws_ok($$ select qwf.register_worker('box', 'llm', '{"servers": [
  {"name": "x", "kind": "openai", "parallel": 1, "models": {}, "modles": {}}]}') $$, 'QW005',
  'unknown key', 'an unknown key');
