-- 5 tests
-- The clock moves by 0.2 s whenever somebody reads it.
create sequence pg_temp.reads;
grant all on sequence pg_temp.reads to public;
select qwf.create_schedule('s' || n, task => 't', every => '1 h') from generate_series(1, 20) n;
select count(*)
from (select qwf.enqueue('t' || n, queue => 'cpu') from generate_series(1, 1000) n) e;
select count(qwf.finish(c.job_id, c.token, 'completed')) from qwf.claim('cpu', 'w', 1000) c;
select is((select count(*)::int from qwf.attempt_counts), 1000, 'a row for each task');
update qwf.schedules set next_at = '2026-01-01';
create or replace function qwf.now() returns timestamptz language sql volatile as $$
  select '2026-01-01 12:00Z'::timestamptz + nextval('pg_temp.reads') * interval '0.2 s' $$;
select cmp_ok(_qwf.roll_up_statistics(), '>=', 100, 'statistics stop at their time');
select cmp_ok((select count(*) from qwf.attempt_counts), '>', 500::bigint, 'and go on later');
select cmp_ok(_qwf.fire_schedules(), '<', 10, 'schedules stop at their time');
select cmp_ok((select count(*) from qwf.schedules where next_at = '2026-01-01'), '>', 10::bigint,
  'and go on later');
