-- 11 tests
select qwf_test.set_now('2026-01-01 12:00Z');
create temp table job as
  select qwf.enqueue('t', expires => '1 minute', max_attempts => 1) as id;
create function pg_temp.put_off(p_detail jsonb default '{"retry_after_s": 60}') returns text
language plpgsql as $$
begin
  perform qwf.finish((select id from job), (select token from qwf.claim('default', 'w')),
    'released', error => 'busy', detail => p_detail);
  return (
    select concat_ws(' ', j.status, j.failures, j.losses, a.outcome, a.detail ->> 'reason')
    from qwf.jobs j join qwf.job_attempts a on a.job_id = j.id and a.attempt = j.attempt
    where j.id = (select id from job));
end $$;
create function pg_temp.pass() returns void language sql as $$
  select qwf_test.travel('60 s');
  select qwf.tick();
$$;

select is(pg_temp.put_off(), 'scheduled 0 0 released later', 'nothing is counted');
select pg_temp.pass();
select pg_temp.pass();
select is((select status::text from qwf.jobs), 'queued', 'its expiry has passed: it began before');
select is(pg_temp.put_off('{"retry_after_s": 60, "reason": "older_code"}'),
  'scheduled 0 0 released older_code', 'a reason of its own stays');
select pg_temp.pass();

-- As if it had been put off 998 times; the last attempt was another one.
insert into qwf.job_attempts (job_id, attempt, token, worker, queued_at, started_at, finished_at,
  outcome, detail)
select id, n, gen_random_uuid(), 'w', qwf.now(), qwf.now(), qwf.now(), 'released',
  '{"reason": "later"}'
from job, generate_series(3, 1000) n;
update qwf.jobs set attempt = 1000;
select is(pg_temp.put_off(), 'scheduled 0 0 released later', 'the 999th in a row');
select pg_temp.pass();
select is(pg_temp.put_off(), 'scheduled 0 0 released later', 'the 1000th');
select pg_temp.pass();
select is(pg_temp.put_off(), 'failed 1 0 tempfail', 'the 1001st is a failure like any other');
select matches((select last_error from qwf.jobs), '^busy\nput off 1000 times in a row',
  'and says so');

-- A newer job of its key takes over, as after any try.
delete from job;
insert into job select qwf.enqueue('t', key => 'b');
select pg_temp.put_off();
select lives_ok($$ select qwf.enqueue('t', key => 'b') $$, 'a newer job of its key');
select is((select count(*)::int from qwf.claim('default', 'w')), 1, 'starts');
select is((select last_error from qwf.jobs where id = (select id from job)),
  format('superseded by job %s: busy', (select max(id) from qwf.jobs)), 'in its place');
select is_empty('select * from qwf.check_invariants()', 'nothing is broken');
