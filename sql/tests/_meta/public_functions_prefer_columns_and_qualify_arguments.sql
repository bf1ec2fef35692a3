-- 2 tests
-- Style rule 6: PL/pgSQL must not confuse plain argument names with columns.
create temporary view public_function as
  select p.oid::regprocedure as function, p.proname, p.prosrc, a.name as argument
  from pg_proc p
  join pg_language l on l.oid = p.prolang
  cross join lateral unnest(p.proargnames, p.proargmodes) a(name, mode)
  where p.pronamespace = 'qwf'::regnamespace
    and l.lanname = 'plpgsql'
    and coalesce(a.mode, 'i') in ('i', 'b', 'v');

select is_empty($$
  select distinct f.function
  from public_function f
  where f.prosrc !~ '^\s*#variable_conflict use_column\s'
$$, 'a public function begins with #variable_conflict use_column');

select is_empty($$
  select f.function, f.argument
  from public_function f
  where f.prosrc !~ format('\m%s\.%s\M', f.proname, f.argument)
$$, 'a public function writes every argument as function.argument');
