-- 2 tests
select qwf.enqueue('a', max_attempts => 3);
select qwf_test.claim('default');
create temp table report as select jsonb_build_object(
  'job_id', qwf_test.job('a'), 'token', qwf_test.token('a'), 'outcome', 'error') as r;
select results_eq($$
  select verdict from qwf.finish_many((select jsonb_build_array(r, r) from report))
$$, array['ok', 'ok'], 'the same report');
select results_eq('select failures from qwf.jobs', array[1], 'is counted once');
