-- 2 tests
select qwf.create_queue('mail', keep_completed => false);
select qwf.enqueue('a', queue => 'mail');
select qwf_test.claim('mail');
create temp table held as select j.id, j.token from qwf.jobs j;
select results_eq($$
  select v.job_id = h.id, v.verdict
  from held h, qwf.finish_many(jsonb_build_array(
    jsonb_build_object('job_id', h.id, 'token', h.token, 'outcome', 'completed'),
    jsonb_build_object('job_id', h.id, 'token', h.token, 'outcome', 'completed'),
    jsonb_build_object('job_id', h.id, 'token', h.token, 'outcome', 'error'),
    jsonb_build_object('job_id', h.id + 1, 'token', h.token, 'outcome', 'completed'))) v
$$, $$ values (true, 'ok'), (true, 'ok'), (true, 'lost'), (false, 'lost') $$,
  'ok only to what ended it');
select is_empty('select id from qwf.jobs', 'it left no row');
