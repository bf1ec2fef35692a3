-- 2 tests
-- Each rule stands in one place, and each name stands for one function.
select is_empty($$
  select string_agg(p.oid::regprocedure::text, ', ' order by p.proname)
  from pg_proc p
  where p.pronamespace in ('qwf'::regnamespace, '_qwf'::regnamespace)
  group by coalesce(pg_get_function_sqlbody(p.oid), p.prosrc)
  having count(*) > 1
$$, 'no two functions have the same body');

select is_empty($$
  select p.pronamespace::regnamespace, p.proname
  from pg_proc p
  where p.pronamespace in ('qwf'::regnamespace, '_qwf'::regnamespace)
  group by p.pronamespace, p.proname
  having count(*) > 1
$$, 'no name stands for two functions: comments, grants and drops name it without arguments');
