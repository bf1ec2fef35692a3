-- 2 tests
select qwf.enqueue('fits'), qwf.enqueue('large', max_attempts => 9);
select qwf_test.attempt('fits', output => jsonb_build_object('x', repeat('x', 1048576 - 9)));
select is(qwf_test.state('fits'), 'completed', '1 MiB fits');
select qwf_test.attempt('large', output => jsonb_build_object('x', repeat('x', 1048576 - 8)));
select results_eq($$
  select status::text, last_error ~ '^QW005: .*1048577 bytes.*1048576', output
  from qwf.jobs where id = qwf_test.job('large')
$$, $$ values ('failed', true, null::jsonb) $$, 'a byte more does not, and the error says so');
