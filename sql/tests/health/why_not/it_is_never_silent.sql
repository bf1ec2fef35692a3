-- 13 tests
-- For every state of the run, the map and the events of a blocked job.
create function pg_temp.why(p_node text) returns text language sql as $$
  select string_agg(w, '; ') from qwf.why_not(qwf_test.job(p_node)) w $$;
create function pg_temp.drain(p_times int) returns void language plpgsql as $$
begin
  for n in 1 .. p_times loop
    perform qwf.drain_outbox(), qwf_test.travel('1 min');
  end loop;
end $$;

select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('w');
select qwf_test.jam('s/b', true), qwf_test.attempt('s/a');
select is(pg_temp.why('s/b'), '1 events of its run wait to be applied, the last error was '
  'P0001 s/b is jammed: select qwf.drain_outbox()', 'its turn has come, but opening it fails');
select pg_temp.drain(5);
select is(qwf_test.state('s/b'), 'blocked', 'nor can it be cancelled');
select matches(pg_temp.why('s/b'), '^its run is over, failed: it will be cancelled; '
  '.*1 events of its run were given up: P0001 s/b is jammed: retry_run\(\)',
  'the event was given up, and the run with it');
select matches(pg_temp.why('s/b'), '1 events of its run wait to be applied', 'it is tried again');
select pg_temp.drain(9);
select unalike(pg_temp.why('s/b'), '%wait to be applied%', 'but not forever');
select qwf_test.unjam();
delete from qwf.outbox;
select is(pg_temp.why('s/b'), 'its run is over, failed: it will be cancelled', 'not even then');

select qwf_test.workflow('guarded', '[{"id": "a"}, {"id": "c", "depends_on": ["a"],
  "skip_if": {"$from": "a.skip"}}]');
select qwf.enqueue_run('guarded');
select qwf_test.jam('s/c'), qwf_test.attempt('s/a', output => '{"skip": false}');
select alike(pg_temp.why('s/c'), '1 events of its run wait%', 'a guarded node');
select qwf_test.unjam(), pg_temp.drain(1);
select is(qwf_test.state('s/c'), 'queued', 'which goes on then');

select qwf_test.workflow('let_go', '[{"id": "a", "on_failure": "continue"}, {"id": "b"},
  {"id": "c", "depends_on": ["a", "b"]}]');
select qwf_test.work(), qwf.enqueue_run('let_go');
select qwf_test.jam('s/c', true), qwf_test.attempt('s/a', 'fatal');
select is(pg_temp.why('s/c'), 'it depends on s/b, which is queued; 1 events of its run wait to be '
  'applied, the last error was P0001 s/c is jammed: select qwf.drain_outbox()',
  'one of its dependencies was let go');
select qwf_test.unjam(), pg_temp.drain(1);
select is(pg_temp.why('s/c'), 'it depends on s/b, which is queued', 'the other is left');

select qwf_test.workflow('map', '[{"id": "a"}, {"id": "m", "depends_on": ["a"],
  "run_if": "all_done", "map": {"$value": [1, 2, 3]}, "max_parallel": 1}]');
select qwf_test.work(), qwf_test.work(), qwf.enqueue_run('map');
select qwf_test.attempt('s/a', 'fatal');
select qwf_test.jam('s/m[2]', true);
select throws_ok($$ select qwf.cancel_job(qwf_test.job('s/m')) $$, 'P0001', null,
  'an element that cannot be cancelled');
update qwf.jobs set status = 'cancelled', finished_at = qwf.now() where id = qwf_test.job('s/m');
select is(pg_temp.why('s/m[2]'), 'map s/m is over, cancelled: it will be cancelled',
  'its map has ended');
select qwf.enqueue_run('w');
update qwf.jobs set status = 'blocked' where id = qwf_test.job('s/a');
select is(pg_temp.why('s/a'),
  'nothing it waits for is known: select * from qwf.check_invariants()', 'a damaged database');
