-- 3 tests
select qwf_test.set_now('2030-01-01');
select qwf.enqueue('a');
select qwf_test.claim('default');
create function pg_temp.lease() returns interval language sql as $$
  select lease_expires_at - qwf.now() from qwf.jobs $$;
do $$ begin perform qwf.heartbeat('w', array[qwf_test.token('a')]); end $$;
select is(pg_temp.lease(), '30 s', 'the setting');
select qwf.create_queue('default', lease => '50 s');
do $$ begin perform qwf.heartbeat('w', array[qwf_test.token('a')]); end $$;
select is(pg_temp.lease(), '50 s', 'over it the queue''s');
do $$ begin perform qwf.heartbeat('w', array[qwf_test.token('a')], lease => '70 s'); end $$;
select is(pg_temp.lease(), '70 s', 'over both the call''s');
