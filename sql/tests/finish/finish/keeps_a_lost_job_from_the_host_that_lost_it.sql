-- 3 tests
create temp table w as select qwf.register_worker('box', 'default') as id;
select qwf.enqueue('a', backoff => '[0]', max_attempts => 9);
select count(qwf.finish(c.job_id, c.token, 'lost')) from w, qwf.claim('default', w.id) c;
select results_eq('select avoid_host, avoid_until - qwf.now() > interval ''4 min'' from qwf.jobs',
  $$ values ('box', true) $$, 'a loss');
update qwf.jobs set avoid_host = null;
select count(qwf.finish(c.job_id, c.token, 'tempfail', detail => '{"reason": "accelerator"}'))
from w, qwf.claim('default', w.id) c;
select is((select avoid_host from qwf.jobs), 'box', 'an error of the accelerator');
update qwf.jobs set avoid_host = null;
select count(qwf.finish(c.job_id, c.token, 'error')) from w, qwf.claim('default', w.id) c;
select is((select avoid_host from qwf.jobs), null, 'not an error of the body');
