-- 3 tests
select qwf_test.set_now('2026-01-01 12:00Z');
create temp table worker as select qwf_test.worker() as id;
insert into qwf.usual_times (kind, name, since, runs, p95)
values ('task', 'a', qwf.now(), 10, 0.0002);
select qwf.enqueue('a', queue => 'gpu');
select qwf_test.gets(id) from worker;
create function pg_temp.why() returns text language sql volatile as $$
  select w from qwf.jobs j, qwf.why_not(j.id) w $$;

select matches(pg_temp.why(), 'for 00:00:00$', 'nothing, as long as that is no longer than usual');
select qwf_test.travel('2 s');
select matches(pg_temp.why(), 'for 00:00:02; 19 of 20 took less than 00:00:01$',
  'at least a second');
update qwf.workers set last_seen = qwf.now(), stats = jsonb_build_object('unreported',
  jsonb_build_object('jobs', array(select j.id from qwf.jobs j),
    'tasks', '[{"task": "a", "reports": 1, "error": "23514 no"}]'::jsonb));
select matches(pg_temp.why(), '^its body has ended on [^;]*, which cannot report it: 23514 no$',
  'nothing of a body that has ended');
