-- 8 tests
select qwf.enqueue(case when g in (2, 3, 9) then 'rare' else 't' end) from generate_series(1, 10) g;
create temp table job as
select j.id, row_number() over (order by j.id) as n, j.task from qwf.jobs j;
create function pg_temp.step(p_before int, p_look_back int, p_rows int default 50) returns text
language sql as $$
  select coalesce(string_agg(format('%s %s', coalesce(f.n::text, '-'), coalesce(t.n::text, 'all')),
    ', ' order by found.id desc), 'nothing')
  from qwf.find_jobs('{"task": "rare"}', (select id from job where n = p_before), p_look_back,
    p_rows) found
  left join job f on f.id = found.id left join job t on t.id = found.searched_to
$$;
select is(pg_temp.step(null, 100), '9 all, 3 all, 2 all', 'all of it');
select is(pg_temp.step(null, 4), '9 7', 'as far as it may look');
select is(pg_temp.step(7, 3), '- 4', 'nothing was there, and how far that goes');
select is(pg_temp.step(4, 3), '3 1, 2 1', 'on from there');
select is(pg_temp.step(1, 3), 'nothing', 'nothing is left');
select is(pg_temp.step(null, 100, 2), '9 3, 3 3', 'or as far as it found enough');
delete from qwf.jobs j using job where j.id = job.id and job.n in (4, 5, 6, 7, 8);
select is(pg_temp.step(null, 3), '9 3, 3 3', 'deleted jobs do not count');
select is(pg_temp.step(9, 100), '3 all, 2 all', 'nor do they end the search');
