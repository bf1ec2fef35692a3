-- A rule is found in one place.
begin;
select plan(1);

select is_empty($$
  select string_agg(p.oid::regprocedure::text, ', ' order by p.proname)
  from pg_proc p
  where p.pronamespace = 'qwf'::regnamespace
  group by coalesce(pg_get_function_sqlbody(p.oid), p.prosrc)
  having count(*) > 1
$$, 'no two functions have the same body');

select * from finish();
rollback;
