-- 2 tests
-- Style rule 7: a caller's search_path or temporary table must not change what a function does.
select is_empty($$
  select p.oid::regprocedure, p.proconfig
  from pg_proc p
  join pg_language l on l.oid = p.prolang
  where p.pronamespace in ('qwf'::regnamespace, '_qwf'::regnamespace)
    and (l.lanname = 'plpgsql' or p.prosecdef)
    and not exists (
      select from unnest(p.proconfig) c(setting)
      where c.setting = 'search_path=pg_catalog, pg_temp')
$$, 'every plpgsql or security definer function runs with search_path = pg_catalog, pg_temp');

select is_empty($$
  select p.oid::regprocedure
  from pg_proc p
  where p.pronamespace in ('qwf'::regnamespace, '_qwf'::regnamespace)
    and p.prosecdef
    and p.proowner <> (select n.nspowner from pg_namespace n where n.nspname = 'qwf')
$$, 'a security definer function runs as the owner of the schema');
