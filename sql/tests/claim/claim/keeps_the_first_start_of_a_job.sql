select qwf_test.set_now('2030-01-01');
select qwf.enqueue('mail');
select qwf_test.attempt('mail', 'released');
select qwf_test.travel('1 h');
select qwf_test.claim('default');
select results_eq($$
  select started_at, claimed_at from qwf.jobs where id = qwf_test.job('mail')
$$, $$ values ('2030-01-01'::timestamptz, '2030-01-01 01:00'::timestamptz) $$,
  'started_at is the first claim, claimed_at the last');
