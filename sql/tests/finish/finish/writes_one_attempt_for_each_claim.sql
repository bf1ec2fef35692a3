select qwf.enqueue('a', max_attempts => 2);
select qwf_test.attempt('a', 'released'), qwf_test.attempt('a', 'lost'),
  qwf_test.attempt('a', 'error'),
  qwf_test.attempt('a');
select results_eq('select attempt, outcome from qwf.job_attempts order by attempt', $$
  values (1, 'released'), (2, 'lost'), (3, 'error'), (4, 'completed') $$, 'in order');
