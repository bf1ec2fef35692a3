-- 4 tests
create temp table worker as select qwf.register_worker('box', 'gpu', '{
  "models": ["flux", "qwen"], "servers": [
  {"name": "vllm", "kind": "openai", "external": false, "parallel": 8, "idle_s": 300, "card": 0,
   "models": {"qwen": 9500}}]}') as id;
select qwf.register_worker('other', 'gpu', '{"models": ["flux"]}'),
  qwf.register_worker('box', 'cpu', '{"models": ["qwen", "phi"]}');
select qwf.enqueue('t', queue => 'gpu', model => 'flux') from generate_series(1, 3);
select results_eq($$ select queue, model, served, hosts, loaded, troubled, waiting
  from qwf.model_overview $$, $$ values
  ('cpu', 'phi', false, '{box}'::text[], '{}'::text[], '[]'::jsonb, 0::bigint),
  ('gpu', 'flux', false, '{box,other}', '{}', '[]', 3),
  ('gpu', 'qwen', true, '{box}', '{}', '[]', 0) $$,
  'a model of a server is none of a queue that the server does not serve');
select qwf.enqueue('t', queue => 'cpu', model => 'qwen');
select is((select hosts from qwf.model_overview where (queue, model) = ('cpu', 'qwen')), '{box}',
  'but for which a job waits');
select qwf.heartbeat(id, stats => '{"models": [{"model": "flux"}],
  "servers": [{"name": "vllm", "state": "ready", "model": "qwen"}]}') from worker;
select results_eq($$ select model, loaded from qwf.model_overview where queue = 'gpu' $$,
  $$ values ('flux', '{box}'::text[]), ('qwen', '{box}') $$, 'in a worker and in a server');
select qwf.heartbeat(id, stats => '{"servers": [{"name": "vllm", "state": "broken",
  "lacks": {"qwen": "too big"}}]}') from worker;
select is((select troubled from qwf.model_overview where (queue, model) = ('gpu', 'qwen')), '[
  {"host": "box", "server": "vllm", "state": "broken", "why": "too big"}]', 'who cannot serve it');
