-- 10 tests
select qwf.enqueue('a');
select qwf_test.claim('default');
create function pg_temp.report_with(p_bad jsonb) returns setof qwf.report_verdict language sql as $$
  select * from qwf.finish_many(jsonb_build_array(jsonb_build_object(
    'job_id', qwf_test.job('a'), 'token', qwf_test.token('a'), 'outcome', 'completed'), p_bad)) $$;
select throws_ok($$ select pg_temp.report_with('{"job_id": 1}') $$, 'QW005', 'malformed report',
  'no outcome');
select throws_ok($$ select pg_temp.report_with('{"outcome": "completed"}') $$, 'QW005',
  'malformed report', 'no job');
select throws_ok($$ select pg_temp.report_with('{"job_id": "x", "outcome": "error"}') $$, 'QW005',
  'malformed report',
  'a job that is not a number');
select throws_ok($$
  select pg_temp.report_with('{"job_id": 1, "token": "x", "outcome": "error"}')
$$, 'QW005', 'malformed report', 'an invalid token');
select throws_ok($$ select pg_temp.report_with('{"job_id": 1, "outcome": "error", "detail": 7}') $$,
  'QW005',
  'malformed report', 'a detail that is not an object');
select throws_ok($$ select pg_temp.report_with('7') $$, 'QW005', 'malformed report',
  'not an object');
select throws_ok($$ select qwf.finish_many('{}') $$, 'QW005', 'malformed report', 'not a list');
select throws_ok($$ select qwf.finish_many(null) $$, 'QW005', 'malformed report', 'nothing');
select qwf_test.explains($$ select pg_temp.report_with('{"job_id": 7}') $$, '%"job_id": 7%',
  'the error shows it');
select is(qwf_test.state('a'), 'running', 'the valid report beside it can still be sent');
