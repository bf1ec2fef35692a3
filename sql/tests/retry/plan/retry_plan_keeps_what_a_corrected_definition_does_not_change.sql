-- 14 tests
-- The third of five nodes has a wrong pattern. It is corrected, and the run goes on from there.
create function pg_temp.pipeline(p_pattern text) returns void language sql as $$
  select qwf_test.workflow('w', jsonb_build_array(
    '{"id": "fetch", "inputs": {"day": {"$from": "day"}}}'::jsonb,
    '{"id": "read", "depends_on": ["fetch"], "inputs": {"x": {"$from": "fetch.day"}}}'::jsonb,
    jsonb_build_object('id', 'find', 'depends_on', '["read"]'::jsonb,
      'inputs', jsonb_build_object('pattern', p_pattern)),
    '{"id": "count", "depends_on": ["find"], "inputs": {"x": {"$from": "find.pattern"}}}'::jsonb,
    '{"id": "send", "depends_on": ["count"], "timeout": "9 s"}'::jsonb)) $$;
create function pg_temp.planned(p_latest boolean) returns text language sql as $$
  select string_agg(format('%s %s', p.node_id, p.verdict || coalesce(': ' || p.because, '')), '; ')
  from qwf.retry_plan(qwf_test.run(), latest => p_latest) p $$;

select pg_temp.pipeline('[0-9');
select qwf.enqueue_run('w', '{"day": "2026-11-26"}');
select qwf_test.work(), qwf_test.work();
select qwf_test.attempt('s/find', 'error', error => 'bad pattern');
select pg_temp.pipeline('[0-9]');
select is(pg_temp.planned(false),
  's/fetch reused; s/read reused; s/find runs again: it failed; '
  's/count runs again: it was cancelled; s/send runs again: it was cancelled',
  'with its own definitions the old error would come again');
select is(pg_temp.planned(true),
  's/fetch reused; s/read reused; s/find runs again: its definition changed; '
  's/count runs again: it was cancelled; s/send runs again: it was cancelled',
  'with those of now what came before is kept');
select is(qwf_test.nodes(),
  's/fetch completed, s/read completed, s/find failed, s/count cancelled, s/send cancelled',
  'a plan changes nothing');
create temp table kept as select * from qwf.jobs where node_id in ('s/fetch', 's/read');
select is(qwf.retry_run(qwf_test.run(), latest => true), 3, 'three nodes run again');
select is(qwf_test.nodes(),
  's/fetch completed, s/read completed, s/find queued, s/count blocked, s/send blocked',
  'from the node that was wrong');
select results_eq('select inputs from qwf.claim(''cpu'', ''w'')',
  array[jsonb '{"pattern": "[0-9]"}'], 'with the new pattern');
select qwf_test.report('s/find', 'completed', '{"pattern": "y"}');
select is_empty('select * from qwf.check_invariants()', 'the counters are right');
select qwf_test.work(), qwf_test.work();
select is(qwf_test.run_state(), 'completed', 'it completes');
select results_eq(
  'select j.output, j.finished_at, j.attempt from qwf.jobs j join kept k using (id) order by id',
  'select output, finished_at, attempt from kept order by id', 'the others did not run again');
select is_empty('select * from qwf.check_invariants()', 'and the history adds up');
select results_eq(
  $$ select status, version, error from qwf.run_tries where run_id = qwf_test.run() order by try $$,
  $$ values ('failed', 1, 's/find failed: bad pattern'), ('completed', 1, null) $$,
  'both tries are told; the workflow itself is the same version, a pipeline changed');
select is(
  (select detail - 'nodes' from qwf.event_overview
   where kind = 'retried' and run_id = qwf_test.run()),
  '{"version": 1, "old_version": 1}', 'the event says that it moved');
select is((select count(*)::int from qwf.run_definitions d
  where d.run_id = qwf_test.run() and d.version <> d.current_version), 0, 'to those of now');
select throws_ok(format('select qwf.retry_run(%s, latest => true)', qwf_test.run()), 'QW002',
  'nothing to retry', 'there is nothing more to mend');
