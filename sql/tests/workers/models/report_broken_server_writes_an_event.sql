-- 3 tests
create temp table worker as select qwf.register_worker('box', 'llm') as id;
select is((select qwf.report_broken_server(id, 'vllm', 'exit 1') from worker), true, 'recorded');
select results_eq($$ select kind, detail - '{host,worker}'::text[] from _qwf.event_log $$,
  $$ values ('server_broken', '{"queue": "llm", "server": "vllm", "error": "exit 1"}'::jsonb) $$,
  'which server, and why');
select is(qwf.report_broken_server('stranger', 'vllm', 'exit 1'), false, 'an unknown worker');
