begin;
select plan(1);

select qwf.enqueue('a');
select qwf_test.attempt('a', 'lost'), qwf_test.attempt('a', 'lost'), qwf_test.attempt('a', 'lost');
select matches((select last_error from qwf.jobs), 'lost 3 times',
  'the job says which budget was spent');

select * from finish();
rollback;
