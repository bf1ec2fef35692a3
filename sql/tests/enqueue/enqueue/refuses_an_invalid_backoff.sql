-- 10 tests
create function pg_temp.with(p_backoff jsonb) returns bigint language sql as $$
  select qwf.enqueue('mail', backoff => p_backoff) $$;
select throws_ok($$ select pg_temp.with('[]') $$, 'QW005', 'invalid job', 'an empty list');
select throws_ok($$ select pg_temp.with('[1, "2"]') $$, 'QW005', 'invalid job', 'a text');
select throws_ok($$ select pg_temp.with('[-1]') $$, 'QW005', 'invalid job', 'the past');
select throws_ok($$ select pg_temp.with('[1e300]') $$, 'QW005', 'invalid job', 'the end of time');
select throws_ok($$ select pg_temp.with('7') $$, 'QW005', 'invalid job', 'a number');
select throws_ok($$ select pg_temp.with('{"factor": 2}') $$, 'QW005', 'invalid job', 'no base');
select throws_ok($$ select pg_temp.with('{"base": 1, "power": 2}') $$, 'QW005', 'invalid job',
  'an unknown key');
select qwf_test.explains($$ select pg_temp.with('[]') $$, 'backoff:%',
  'the error names the argument');
select lives_ok($$ select pg_temp.with('[0.5, 10]') $$, 'a list of seconds');
select lives_ok($$ select pg_temp.with('{"base": 1, "factor": 2, "max": 600}') $$,
  'or a growing one');
