-- 6 tests
select qwf_test.workflow('w', '[{"id": "a"}]');
select qwf.enqueue_run('w', key => g::text,
  project => case when g in (2, 3, 9) then 'rare' else '' end)
from generate_series(1, 10) g;
create temp table run as select r.id, r.key::int as n from qwf.runs r;
create function pg_temp.step(p_before int, p_look_back int, p_rows int default 50) returns text
language sql as $$
  select coalesce(string_agg(format('%s %s', coalesce(f.key, '-'), coalesce(t.n::text, 'all')),
    ', ' order by f.id desc), 'nothing')
  from qwf.find_runs('{"project": "rare"}', (select id from run where n = p_before), p_look_back,
    p_rows) f
  left join run t on t.id = f.searched_to
$$;
select is(pg_temp.step(null, 100), '9 all, 3 all, 2 all', 'all of it');
select is(pg_temp.step(null, 4), '9 7', 'as far as it may look');
select is(pg_temp.step(7, 3), '- 4', 'nothing was there, and how far that goes');
select is(pg_temp.step(1, 3), 'nothing', 'nothing is left');
select is(pg_temp.step(null, 100, 2), '9 3, 3 3', 'or as far as it found enough');
delete from qwf.runs r using run where r.id = run.id and run.n in (4, 5, 6, 7, 8);
select is(pg_temp.step(null, 3), '9 3, 3 3', 'deleted runs do not count');
