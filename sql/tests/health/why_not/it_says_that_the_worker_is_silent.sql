-- 4 tests
set local timezone = 'UTC';
select qwf_test.set_now('2030-01-01 12:00Z');
create temp table worker as select qwf.register_worker('box', 'default') as id;
select qwf.enqueue('a');
select c.job_id from worker w, qwf.claim('default', w.id, lease => '10 min') c;
create function pg_temp.why() returns text language sql as $$
  select string_agg(y, '; ') from qwf.why_not(qwf_test.job('a')) y $$;
select unalike(pg_temp.why(), '%, but%', 'the worker is alive');
select qwf_test.set_now('2030-01-01 12:09Z');
select alike(pg_temp.why(), '%, but this worker is silent since 2030-01-01 12:00:00+00 and its '
  'lease ends at 2030-01-01 12:10:00+00: then another worker gets the job', 'not heard of');
select qwf_test.set_now('2030-01-01 12:11Z');
select alike(pg_temp.why(), '%its lease ended at 2030-01-01 12:10:00+00: the next tick takes the '
  'job back', 'the lease has ended');
delete from qwf.workers;
select alike(pg_temp.why(), '%, but its lease ended at 2030%', 'its worker is forgotten');
