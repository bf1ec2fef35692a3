-- 3 tests
select qwf_test.set_now('2026-01-01 12:00');
create temp table w (id) as select qwf.register_worker('box', 'llm', '{"servers": [
  {"name": "vllm", "kind": "openai", "models": {"m": 100}, "parallel": 2},
  {"name": "far", "kind": "openai", "models": {"m": 100}, "parallel": 2, "external": true}
  ]}');
select qwf.heartbeat(w.id, stats => '{"servers": [
  {"name": "vllm", "state": "ready", "model": "m", "log": "hello", "log_bytes": 5}]}') from w;
select results_eq($$
  select l.server, l.external, l.state, l.model, l.log, l.printed, l.agent
  from qwf.server_logs l order by l.server
$$, $$
  values ('box/far', true, 'off', null, '', 0::bigint, null),
    ('box/vllm', false, 'ready', 'm', 'hello', 5, null)
$$, 'what each has printed');

select qwf_test.set_now('2026-01-01 13:00');
select is((select l.agent from qwf.server_logs l where l.server = 'box/vllm'), 'silent',
  'an agent that sends no heartbeat is silent');
select qwf.deregister_worker(w.id) from w;
select results_eq($$ select l.agent, l.log from qwf.server_logs l where l.server = 'box/vllm' $$,
  $$ values ('stopped', 'hello') $$, 'and its log stays when it has ended');
