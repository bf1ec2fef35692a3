-- 3 tests
create temp table job as select qwf.enqueue('t', run_at => qwf.now() + interval '1 min',
  max_attempts => 2, backoff => '[0]') as id;
select qwf_test.travel('1 min'), _qwf.promote_due();
select qwf_test.travel('5 s');
select is(round(c.queued_s::numeric), 5.0, 'since it was due')
from qwf.claim('default', 'w') c;
select qwf_test.travel('1 min'), qwf.finish(j.id, j.token, 'error') from qwf.jobs j;
select qwf_test.travel('3 s');
create temp table claimed as select * from qwf.finish_and_claim('[]', 'default', 'w');
select is(round(queued_s::numeric), 3.0, 'this time, also if it comes with reports') from claimed;
create temp table told as select t.*
from claimed c, qwf.finish_and_claim(jsonb_build_array(jsonb_build_object(
  'job_id', c.job_id, 'token', c.token, 'outcome', 'completed')), 'default', 'w') t;
select results_eq('select verdict, queued_s from told', $$ values ('ok', null::float8) $$,
  'a verdict has none');
