select qwf.enqueue('mail');
select qwf_test.claim('default');
do $$ begin perform qwf.progress(qwf_test.job('mail'), qwf_test.token('mail'), 0.5, 'half'); end $$;
select qwf_test.report('mail', 'released');
select qwf_test.claim('default');
select results_eq($$
  select progress, progress_message, beat_at from qwf.job_details where id = qwf_test.job('mail')
$$, $$ values (null::real, null::text, null::timestamptz) $$, 'a new body starts from nothing');
