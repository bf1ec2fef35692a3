-- 2 tests
select qwf.enqueue('a');
select qwf_test.claim('default'), qwf_test.lapse('a');
select qwf_test.claim('default'), qwf_test.lapse('a');
select is(qwf_test.state('a'), 'queued', 'twice is not too often');
select qwf_test.claim('default'), qwf_test.lapse('a');
select results_eq($$
  select status::text, losses, last_error ~ '^lost 3 times.*lapsed' from qwf.jobs
$$, $$
  values ('failed', 3, true) $$, 'no job loops forever');
