-- 4 tests
create temp table worker as select qwf.register_worker('box', 'llm', '{"servers": [
  {"name": "vllm", "kind": "openai", "parallel": 8, "models": {"qwen": 9500}}]}') as id;
select qwf.configure_server('box', 'llm', 'vllm', 4, '10 min', 'ann');
select results_eq($$ select o.state, o.server, o.parallel, o.server_idle
  from worker, qwf.worker_orders(worker.id) o $$,
  $$ values ('on', 'vllm', 4, interval '10 min') $$, 'it is on, and has its settings');
select qwf.worker_control('box', 'llm', 'off', 'pause');
select results_eq($$ select o.state, o.policy, o.server
  from worker, qwf.worker_orders(worker.id) o $$,
  $$ values ('off', 'pause', 'vllm') $$, 'switching it off keeps them');
select qwf.worker_control('box', 'llm', 'on');
select ok((select a.ordered from worker, qwf.stay_asleep(worker.id, 'llm') a),
  'a sleeping worker is told to ask, because it may have missed the notification');
select qwf.configure_server('box', 'llm');
select results_eq($$ select o.server, o.parallel, o.server_idle
  from worker, qwf.worker_orders(worker.id) o $$,
  $$ values (null::text, null::int, null::interval) $$, 'null: as the agent is configured');
