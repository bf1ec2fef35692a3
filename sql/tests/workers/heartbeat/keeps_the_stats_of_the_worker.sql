-- 3 tests
create temp table who as select qwf.register_worker('box', 'gpu') as one;
select qwf.heartbeat(one, stats => '{"current_model": "flux", "busy": 1}') from who;
select is((select stats from qwf.workers), '{"busy": 1}'::jsonb, 'as given');
select qwf.heartbeat(one) from who;
select is((select stats from qwf.workers), '{"busy": 1}'::jsonb,
  'a heartbeat without stats keeps them');
select throws_ok($$ select qwf.heartbeat(one, stats => '[]') from who $$, 'QW005',
  'invalid heartbeat', 'stats are an object');
