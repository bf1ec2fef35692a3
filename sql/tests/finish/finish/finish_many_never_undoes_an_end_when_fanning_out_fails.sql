-- 4 tests
select qwf_test.workflow('pair', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('pair');
select qwf_test.claim();
select qwf_test.jam('s/b');
select results_eq($$
  select verdict, pending
  from qwf.finish_many(jsonb_build_array(jsonb_build_object(
    'job_id', qwf_test.job('s/a'), 'token', qwf_test.token('s/a'), 'outcome', 'completed', 'output',
      '{"n": 1}'::jsonb)))
$$, $$ values ('ok', true) $$, 'the report is accepted; pending says: drain soon');
select results_eq($$ select status::text, output from qwf.jobs where id = qwf_test.job('s/a') $$, $$
  values ('completed', '{"n": 1}'::jsonb) $$, 'the work of the body is not lost');
select results_eq('select run_id, job_id, kind, error from qwf.outbox', $$
  values (qwf_test.run(), qwf_test.job('s/a'), 'completed', 'P0001 s/b is jammed') $$,
    'the event waits, with the reason');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy meanwhile');
