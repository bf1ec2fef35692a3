-- 3 tests
select qwf.enqueue('a');
select qwf_test.claim('default');
create function pg_temp.report() returns setof qwf.report_verdict language sql as $$
  select * from qwf.finish_many(jsonb_build_array(jsonb_build_object(
    'job_id', qwf_test.job('a'), 'token', qwf_test.token('a'), 'outcome', 'completed',
    'outptu', jsonb '{"n": 1}'))) $$;
select throws_ok('select pg_temp.report()', 'QW005', 'unknown key',
  'else the job would complete without its output');
select qwf_test.explains('select pg_temp.report()', '[0].outptu', 'the error names it');
select is(qwf_test.state('a'), 'running', 'the report can be sent again');
