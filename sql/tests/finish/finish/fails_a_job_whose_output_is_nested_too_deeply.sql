-- 3 tests
create function pg_temp.nested(p_levels int) returns jsonb language sql as $$
  select (repeat('{"a":', p_levels) || 1 || repeat('}', p_levels))::jsonb $$;
select qwf.enqueue('fits'), qwf.enqueue('deep', max_attempts => 9);
select qwf_test.attempt('fits', output => pg_temp.nested(499));
select is(qwf_test.state('fits'), 'completed', '499 levels fit');
select qwf_test.attempt('deep', output => pg_temp.nested(500));
select results_eq($$
  select status::text, last_error, output from qwf.jobs where id = qwf_test.job('deep')
$$, $$ values ('failed', 'QW005: the output is nested too deeply, at most 499 levels: write a file '
  'and return its path', null::jsonb) $$, 'one more does not, and the error says so');
select is(outcome, 'fatal', 'the same body would return the same')
from qwf.job_attempts where job_id = qwf_test.job('deep');
