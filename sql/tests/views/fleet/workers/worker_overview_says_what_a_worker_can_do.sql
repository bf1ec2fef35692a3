-- 2 tests
create temp table worker as select qwf.register_worker('box', 'gpu', '{
  "tasks": ["draw"], "models": ["flux"], "labels": {"zone": "a"}, "servers": []}') as id;
select qwf.heartbeat(id, stats => '{"model_loads": 3, "servers": [{"name": "x"}]}') from worker;
select qwf.worker_control('box', 'gpu', 'off', 'pause', 'ann');
select results_eq($$ select live, tasks, models, labels ->> 'zone', stats, stop_policy,
    stop_login, stop_acting_for from qwf.worker_overview $$,
  $$ values (true, '{draw}'::text[], '{flux}'::text[], 'a', '{"model_loads": 3}'::jsonb, 'pause',
    qwf_test.login(), 'ann') $$, 'as announced, without its servers');
select is((select count(*) from qwf.worker_overview where host = 'other'), 0::bigint,
  'of no other box');
