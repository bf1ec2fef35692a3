-- 2 tests
select qwf.enqueue('a');
select qwf_test.attempt('a', 'lost'), qwf_test.attempt('a', 'lost'), qwf_test.attempt('a', 'lost');
select matches((select last_error from qwf.jobs), 'lost 3 times',
  'the job says which budget was spent');
select qwf.enqueue('b', max_losses => 1);
select qwf_test.attempt('b', 'lost');
select matches((select last_error from qwf.jobs where task = 'b'), '^lost once, given up: ',
  'in plain words');
