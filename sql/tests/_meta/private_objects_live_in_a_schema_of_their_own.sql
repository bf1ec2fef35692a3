-- 4 tests
-- `\df qwf.*` shows the API. Private functions and types live in _qwf, and no role may use it.
select is_empty($$
  select p.oid::regprocedure
  from pg_proc p
  where p.pronamespace = 'qwf'::regnamespace
    and not exists (
      select from aclexplode(p.proacl) g
      where g.grantee = 'qwf_admin'::regrole and g.privilege_type = 'EXECUTE')
$$, 'every function in qwf may be called by somebody');

select is_empty($$
  select t.oid::regtype
  from pg_type t
  left join pg_class c on c.oid = t.typrelid
  where t.typnamespace = 'qwf'::regnamespace
    and (t.typtype = 'e' or c.relkind = 'c')
    and not exists (
      select from pg_proc p
      where p.pronamespace = 'qwf'::regnamespace
        and t.oid = any (p.prorettype || p.proargtypes::oid[]))
    and not exists (select from pg_attribute a where a.atttypid = t.oid and a.attnum > 0)
$$, 'every type in qwf is one a caller meets');

select is_empty($$
  select n.nspname, g.grantee::regrole
  from pg_namespace n
  cross join lateral aclexplode(n.nspacl) g
  where n.nspname = '_qwf' and g.grantee <> n.nspowner
$$, 'no role has USAGE on _qwf');

select is_empty($$
  select p.oid::regprocedure, g.grantee::regrole
  from pg_proc p
  cross join lateral aclexplode(p.proacl) g
  where p.pronamespace = '_qwf'::regnamespace and g.grantee <> p.proowner
    and not exists (
      select from pg_depend d join pg_rewrite r on r.oid = d.objid
      join pg_class v on v.oid = r.ev_class
      where d.classid = 'pg_rewrite'::regclass and d.refclassid = 'pg_proc'::regclass
        and d.refobjid = p.oid and v.relnamespace = 'qwf'::regnamespace)
$$, 'and none may execute anything there but what a public view calls');
