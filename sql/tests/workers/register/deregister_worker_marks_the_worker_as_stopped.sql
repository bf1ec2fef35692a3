-- 4 tests
select qwf_test.set_now('2030-01-01');
create temp table me as select qwf.register_worker('box', 'default') as id;
select qwf.sleep((select id from me), 'default');
select qwf.deregister_worker((select id from me));
select is((select stopped_at from qwf.workers), '2030-01-01', 'it has stopped');
select is_empty('select * from qwf.sleepers', 'nobody wakes it');
select qwf_test.travel('1 h');
select qwf.deregister_worker((select id from me));
select is((select stopped_at from qwf.workers), '2030-01-01', 'once');
select lives_ok($$ select qwf.deregister_worker('psql') $$,
  'a worker that is not registered may call it too');
