-- 3 tests
-- Style rule 12: rights are given to roles one by one, never to everybody.
select is_empty($$
  select p.oid::regprocedure
  from pg_proc p
  cross join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) g
  where p.pronamespace in ('qwf'::regnamespace, '_qwf'::regnamespace)
    and g.grantee = 0
$$, 'PUBLIC may execute no function');

select is_empty($$
  select c.oid::regclass, g.privilege_type
  from pg_class c
  cross join lateral aclexplode(c.relacl) g
  where c.relnamespace = 'qwf'::regnamespace
    and g.grantee = 0
$$, 'PUBLIC may touch no table, view or sequence');

select is_empty($$
  select g.privilege_type
  from pg_namespace n
  cross join lateral aclexplode(n.nspacl) g
  where n.nspname in ('qwf', '_qwf')
    and g.grantee = 0
$$, 'PUBLIC may not even look into the schemas');
