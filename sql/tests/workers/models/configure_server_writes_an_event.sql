-- 3 tests
select qwf.configure_server('box', 'llm', parallel => 2, idle => '5 min');
select results_eq($$ select kind, detail from _qwf.event_log order by id $$,
  $$ values ('worker_server',
    '{"host": "box", "queue": "llm", "parallel": 2, "idle": "00:05:00",
      "new": {"parallel": 2, "server_idle": "00:05:00"}}'::jsonb) $$,
  'one, and none that says the worker was switched on');
select qwf.configure_server('box', 'llm', parallel => 2, idle => '5 min');
select is((select count(*) from _qwf.event_log), 1::bigint, 'none for no change');
select qwf.worker_control('box', 'llm', 'off');
select results_eq($$ select kind from _qwf.event_log order by id $$,
  $$ values ('worker_server'), ('worker_off') $$, 'switching it off is another event');
