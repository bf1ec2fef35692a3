-- 4 tests
create function pg_temp.register(p_step text) returns void language sql as $$
  select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a"}]}');
  select qwf.register_workflow(jsonb_build_object('name', 'w', 'steps', jsonb_build_array(
    jsonb_build_object('id', p_step, 'kind', 'pipeline', 'pipeline', 'p')))) $$;

select pg_temp.register('one');
select qwf.enqueue_run('w');
select qwf_test.attempt('one/a', 'fatal');
select pg_temp.register('two');
select qwf.retry_run(qwf_test.run());
select qwf_test.attempt('one/a', 'fatal');
select qwf.retry_run(qwf_test.run(), latest => true);
select qwf_test.attempt('two/a', 'fatal');
select pg_temp.register('three');
select qwf.retry_run(qwf_test.run(), latest => true);
select qwf_test.attempt('three/a');
select results_eq(
  'select try, version, error from qwf.run_tries where run_id = qwf_test.run() order by try',
  $$ values (1::bigint, 1, 'one/a failed: fatal'), (2, 1, 'one/a failed: fatal'),
    (3, 2, 'two/a failed: fatal'), (4, 3, null) $$, 'a move counts from the next try on');
select results_eq($$ select e.detail - 'nodes' from _qwf.event_log e
  where e.kind = 'retried' order by e.id $$, $$ values ('{}'::jsonb),
    ('{"version": 2, "old_version": 1, "removed": ["one/a"]}'),
    ('{"version": 3, "old_version": 2, "removed": ["two/a"]}') $$, 'events name what is gone');
select is((select string_agg(t ->> 'version', ' ') from jsonb_array_elements(
  qwf.run_status(qwf_test.run()) -> 'tries') t), '1 1 2 3', 'run_status has them, too');
delete from qwf.jobs;
delete from qwf.runs;
select is((select count(*)::int from qwf.run_tries where version is null), 1,
  'of a deleted run only what it moved from is known');
