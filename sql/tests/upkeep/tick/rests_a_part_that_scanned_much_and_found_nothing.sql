-- 6 tests
create or replace function qwf.now() returns timestamptz language sql volatile as
  $$ select timestamptz '2030-01-01' + current_setting('my.at')::interval $$;
select set_config('my.at', '0', false);
insert into qwf.jobs (
  task, queue, status, position, attempt, token, claimed_by, claimed_at, lease_expires_at,
  queued_at, started_at)
select 't', 'cpu', 'running', 1, 1, gen_random_uuid(), 'w', qwf.now(), qwf.now() + interval '1 h',
  qwf.now(), qwf.now()
from generate_series(1, 10001);

select is(qwf.tick() -> 'reclaimed', '0', 'a part that scanned much and found nothing');
update qwf.jobs set lease_expires_at = qwf.now() - interval '1 s'
where id = (select min(id) from qwf.jobs);
select is((select until from _qwf.rests where part = 'reclaimed'), qwf.now(),
  'rests for as long as it may: here no time has passed');
update _qwf.rests set until = qwf.now() + interval '9 s' where part = 'reclaimed';
select is(qwf.tick() -> 'reclaimed', '0', 'while it rests it does nothing');
select is((select until from _qwf.rests where part = 'woken'), '-infinity', 'others do not rest');
select set_config('my.at', '10 s', false);
select is(qwf.tick() -> 'reclaimed', '1', 'then it runs again');
select is((select until > qwf.now() from _qwf.rests where part = 'reclaimed'), false,
  'and goes on as long as it finds something');
