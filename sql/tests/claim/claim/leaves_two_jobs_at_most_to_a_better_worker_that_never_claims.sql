-- 7 tests
select qwf_test.set_now('2026-01-01 12:00Z');
select qwf.create_queue('packed', placement => 'pack');
create temp table w as select
  qwf.register_worker('a', 'packed', '{"slots": 8}') as silent,
  qwf.register_worker('b', 'packed', '{"slots": 4}') as honest;
create function pg_temp.takes(p_worker text) returns boolean language sql as $$
  select exists (select from qwf.claim('packed', p_worker)) $$;
create function pg_temp.job() returns bigint language sql as $$
  delete from qwf.jobs; select qwf.enqueue('t', queue => 'packed') $$;

select qwf.sleep(silent, 'packed') from w;
select pg_temp.job();
select ok(not pg_temp.takes(honest), 'the first job is left to the better one') from w;
select qwf_test.travel('1 s');
select ok(pg_temp.takes(honest), 'and taken when it has waited') from w;

select pg_temp.job(), qwf.sleep(silent, 'packed') from w;
select ok(not pg_temp.takes(honest), 'so is the second') from w;
select qwf_test.travel('1 s');
select ok(pg_temp.takes(honest), 'which is taken late, too') from w;

select pg_temp.job(), qwf.sleep(silent, 'packed') from w;
select ok(pg_temp.takes(honest), 'the third is taken at once') from w;

select pg_temp.job();
select ok(pg_temp.takes(silent), 'until the better one claims') from w;
select pg_temp.job(), qwf.sleep(silent, 'packed') from w;
select ok(not pg_temp.takes(honest), 'then it counts again') from w;
