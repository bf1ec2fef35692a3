-- Only functions write rows, except for orders to workers.
select is_empty($$
  select c.oid::regclass, g.grantee::regrole, g.privilege_type
  from pg_class c
  cross join lateral aclexplode(c.relacl) g
  where c.relnamespace = 'qwf'::regnamespace
    and c.relkind in ('r', 'p', 'v', 'm')
    and g.grantee <> c.relowner
    and g.privilege_type <> 'SELECT'
    and not (c.relname = 'worker_controls' and g.grantee = 'qwf_admin'::regrole)
$$, 'only the owner may write a table, and qwf_admin worker_controls');
