-- 5 tests
create temp table worker as select qwf.register_worker('box', 'llm', '{
  "models": ["qwen"], "servers": [
  {"name": "vllm", "kind": "openai", "external": false, "parallel": 8, "idle_s": 300, "card": 0,
   "models": {"qwen": 9500, "phi": null}}]}') as id;
select results_eq($$ select host, queue, server, kind, external, state, model, inflight, parallel,
    idle_s, card, models from qwf.server_overview $$,
  $$ values ('box', 'llm', 'vllm', 'openai', false, 'off', null::text, 0, 8,
    300::float8, '0', '{phi,qwen}'::text[]) $$, 'as announced');
select qwf.heartbeat(id, stats => '{"servers": [{"name": "vllm", "state": "ready",
  "model": "qwen", "inflight": 3, "since_s": 61.5, "load_s": 27, "starts": 2, "crashes": 1,
  "tokens": 5000000000, "prompt_tokens": 70, "tokens_per_s": 12.5, "log": "loading"}]}')
from worker;
select results_eq($$ select state, model, inflight, vram_mb, since_s, load_s, starts, crashes,
    tokens, prompt_tokens, tokens_per_s
  from qwf.server_overview $$, $$ values ('ready', 'qwen', 3, 9500, 61.5::float8,
    27::float8, 2, 1, 5000000000, 70::bigint, 12.5::float8) $$, 'as its last heartbeat said');
select qwf.configure_server('box', 'llm', parallel => 2, idle => '0');
select results_eq('select parallel, idle_s from qwf.server_overview',
  'values (2, 0::float8)', 'what is set counts before what is announced');
select qwf.heartbeat(id, stats => '{"servers": [7, {"name": "vllm", "inflight": "many",
  "crashes": -1e99, "state": 5, "since_s": {}, "load_s": [], "starts": null,
  "tokens": "1", "prompt_tokens": 1e99, "tokens_per_s": -1e99}]}') from worker;
select results_eq('select state, inflight, since_s, starts, tokens, prompt_tokens
    from qwf.server_overview',
  $$ values ('5', 0, null::float8, 0, 0::bigint, 0::bigint) $$, 'nonsense breaks nothing');
select qwf.worker_control('box', 'llm', 'off');
select is((select state from qwf.server_overview), 'off', 'a worker that is off');
