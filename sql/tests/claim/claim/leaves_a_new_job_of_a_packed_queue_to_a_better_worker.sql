-- 15 tests
select qwf_test.set_now('2026-01-01 12:00Z');
select qwf.create_queue('packed', placement => 'pack');
create temp table w as select
  qwf.register_worker('a', 'packed', '{"slots": 8}') as best,
  qwf.register_worker('b', 'packed', '{"slots": 4, "models": ["m"]}') as middle,
  qwf.register_worker('c', 'packed', '{"slots": 4}') as last;
create function pg_temp.takes(p_worker text) returns boolean language sql as $$
  select exists (select from qwf.claim('packed', p_worker)) $$;
create function pg_temp.job(p_model text default null) returns void language sql as $$
  delete from qwf.jobs; select qwf.enqueue('t', queue => 'packed', model => p_model) $$;

select pg_temp.job();
select ok(pg_temp.takes(last), 'nobody better is asleep') from w;
select pg_temp.job(), qwf.sleep(best, 'packed'), qwf.sleep(middle, 'packed') from w;
select ok(not pg_temp.takes(last), 'a better one is asleep, so it has room') from w;
select ok(not pg_temp.takes(middle), 'more slots are better') from w;
select ok(pg_temp.takes(best), 'the best takes it') from w;
select pg_temp.job();
select ok(pg_temp.takes('stranger'), 'who is not registered asks first');
delete from qwf.sleepers where worker = (select best from w);
select pg_temp.job();
select ok(not pg_temp.takes(last), 'of equals the first name of a host') from w;
select pg_temp.job('m');
update qwf.workers set models = '{other}' where id = (select middle from w);
select ok(pg_temp.takes(last), 'the better one cannot run it') from w;
update qwf.workers set models = null where id = (select middle from w);

select pg_temp.job();
select qwf.worker_control('b', 'packed', 'off');
select ok(pg_temp.takes(last), 'the better one is off') from w;
select qwf.worker_control('b', 'packed', 'on');
select pg_temp.job();
update qwf.workers set stopped_at = qwf.now() where id = (select middle from w);
select ok(pg_temp.takes(last), 'the better one has stopped') from w;
update qwf.workers set stopped_at = null where id = (select middle from w);

select pg_temp.job();
select qwf_test.travel('249 ms');
select ok(not pg_temp.takes(last), 'until its patience ends') from w;
select qwf_test.travel('1 ms');
select ok(pg_temp.takes(last), 'then anybody takes it') from w;
select qwf_test.travel('16 s');
select pg_temp.job();
select ok(pg_temp.takes(last), 'the better one has not said for 15 s that it is asleep') from w;

select pg_temp.job(), qwf.sleep(middle, 'packed') from w;
update qwf.workers set rank = 1 where id = (select last from w);
select ok(pg_temp.takes(last), 'rank counts before slots') from w;
update qwf.workers set rank = 0;
select qwf.create_queue('packed', placement => 'spread');
select pg_temp.job();
select ok(pg_temp.takes(last), 'placement spread: the first to ask') from w;
select results_eq('select name, placement from qwf.queues order by name', $$ values
  ('cpu', 'spread'), ('default', 'spread'), ('gpu', 'spread'), ('llm', 'pack'),
  ('packed', 'spread'), ('qwf.alerts', 'spread'), ('qwf.runs', 'spread') $$, 'how the queues are');
