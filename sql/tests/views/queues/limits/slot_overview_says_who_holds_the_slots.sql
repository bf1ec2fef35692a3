-- 2 tests
select qwf.create_limit('mail', 2);
select qwf.enqueue('a', queue => 'cpu', limit_by => 'mail');
select qwf.register_worker('box', 'cpu');
select qwf.claim('cpu', (select w.id from qwf.workers w));
select results_eq($$
  select limit_name, max_running, slot, job_id, task, host from qwf.slot_overview order by job_id
$$, $$
  values ('mail', 2, 1, qwf_test.job('a'), 'a', 'box'), ('mail', 2, 2, null, null, null)
$$, 'a job with its box, and a slot that is free');
delete from qwf.limits;
select results_eq('select max_running, job_id from qwf.slot_overview where job_id is not null',
  $$ values (null::int, qwf_test.job('a')) $$, 'also of a limit that is gone');
