-- 6 tests
select qwf_test.register_album();
create temp table run as select qwf.enqueue_run('album', '{"list": ["p", "q"]}') as id;
select qwf_test.works(1);
select is_empty('select * from qwf.check_invariants()', 'a healthy database');
savepoint s;
update qwf.runs set parent_attempt = 2 where context ->> 'x' = 'p';
select set_eq('select invariant from qwf.check_invariants()', array[
  'a job that the engine runs has one live run',
  'a live run of a job is its present attempt, or waits in line'], 'another attempt');
rollback to s;
update qwf.jobs set status = 'completed', finished_at = qwf.now(), token = null,
  lease_expires_at = null where node_id = 'each[0]';
select ok('a live run of a job is its present attempt, or waits in line'
  in (select invariant from qwf.check_invariants()), 'a job that ended without its run');
rollback to s;
update qwf.runs set depth = 9 where context ->> 'x' = 'p';
select set_eq('select invariant from qwf.check_invariants()', array[
  'runs are nested at most 8 deep', 'a run is one level below the run above it'], 'a wrong depth');
rollback to s;
update qwf.runs set status = 'completed', finished_at = qwf.now(), open_nodes = 0, active_nodes = 0
where context ->> 'x' = 'p';
select ok('a job that the engine runs has one live run'
  in (select invariant from qwf.check_invariants()), 'a run that ended and was not reported');
insert into qwf.outbox (run_id, kind) select id, 'stop' from qwf.runs where context ->> 'x' = 'p';
select ok('a job that the engine runs has one live run'
  not in (select invariant from qwf.check_invariants()), 'unless its event is on the way');
