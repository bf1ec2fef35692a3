-- 3 tests
select qwf_test.set_now('2030-01-01');
create temp table me as select qwf.register_worker('box', 'cpu') as id;
select qwf_test.travel('7 s');
select is_empty($$ select * from qwf.heartbeat((select id from me)) $$, 'with nothing to renew');
select is((select last_seen from qwf.workers), '2030-01-01 00:00:07', 'seen');
select lives_ok($$ select * from qwf.heartbeat('psql') $$,
  'a worker that is not registered may call it too');
