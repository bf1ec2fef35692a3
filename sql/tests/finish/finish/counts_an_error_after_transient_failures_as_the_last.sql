-- Without a budget given, one try for an error and four for a transient failure: all count.
select qwf.enqueue('a');
select qwf_test.attempt('a', 'tempfail');
select qwf_test.attempt('a', 'error');
select results_eq('select status::text, failures from qwf.jobs', $$ values ('failed', 2) $$,
  'it fails');
