-- 6 tests
select qwf_test.set_now('2026-01-01 12:00+00');
select qwf.enqueue('t') from generate_series(1, 2500);
update qwf.jobs set last_error = 'no paper' where id in ((select min(id) from qwf.jobs),
  (select max(id) from qwf.jobs));
create temp table job as select id, row_number() over (order by id desc) as n from qwf.jobs;
create function pg_temp.step(p_filter jsonb, p_before int default null) returns text
language sql as $$
  select string_agg(format('%s %s', coalesce(f.n::text, '-'), coalesce(t.n::text, 'all')), ', '
    order by found.id desc)
  from qwf.find_jobs(p_filter, (select id from job where n = p_before)) found
  left join job f on f.id = found.id left join job t on t.id = found.searched_to
$$;
select is(pg_temp.step('{"error": "paper"}'), '1 all, 2500 all', 'all of it, if it is quick');
create temp sequence second;
create or replace function qwf.now() returns timestamptz
language sql volatile
as $$ select '2026-01-01 00:00+00'::timestamptz + nextval('pg_temp.second') * interval '1 s' $$;
select is(pg_temp.step('{"error": "paper"}'), '1 1000', 'a slow search says how far it looked');
select is(pg_temp.step('{"error": "paper"}', 1000), '- 2000', 'and goes on from there');
select is(pg_temp.step('{"error": "paper"}', 2000), '2500 all', 'to the end');
select is(pg_temp.step('{"error": "paper", "status": "queued"}'), '1 1000',
  'so does a search among few jobs');
select is(pg_temp.step('{"error": "paper", "status": "queued"}', 2000), '2500 all',
  'which also comes to its end');
