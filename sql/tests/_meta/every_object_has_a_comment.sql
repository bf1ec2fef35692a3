-- 5 tests
-- Style rule 3: psql shows the purpose of every object beside its name.
select is_empty($$
  select p.oid::regprocedure
  from pg_proc p
  where p.pronamespace = 'qwf'::regnamespace
    and obj_description(p.oid, 'pg_proc') is null
$$, 'every public function says what it does');

select is_empty($$
  select c.relkind, c.oid::regclass
  from pg_class c
  where c.relnamespace = 'qwf'::regnamespace
    and (c.relkind in ('r', 'p', 'v', 'm')
      or c.relkind = 'S' and not exists (
        select from pg_depend d
        where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'i'))
    and obj_description(c.oid, 'pg_class') is null
$$, 'every table, view and sequence says what it holds');

select is_empty($$
  select a.attrelid::regclass, a.attname
  from pg_attribute a
  join pg_class c on c.oid = a.attrelid
  where c.relnamespace = 'qwf'::regnamespace
    and c.relkind in ('r', 'p', 'v', 'm')
    and a.attnum > 0
    and not a.attisdropped
    and col_description(a.attrelid, a.attnum) is null
$$, 'every column of a table or view says what it means');

select is_empty($$
  select t.oid::regtype
  from pg_type t
  left join pg_class c on c.oid = t.typrelid
  where t.typnamespace in ('qwf'::regnamespace, '_qwf'::regnamespace)
    and (t.typtype in ('e', 'd') or c.relkind = 'c')
    and obj_description(t.oid, 'pg_type') is null
$$, 'every type says what it is');

select is_empty($$
  select n.nspname from pg_namespace n
  where n.nspname in ('qwf', '_qwf') and obj_description(n.oid, 'pg_namespace') is null
$$, 'both schemas have a comment');
