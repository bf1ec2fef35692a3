-- 2 tests
select is_empty($$
  select c.oid::regclass, r.rolname, p.privilege
  from pg_class c, pg_roles r, unnest(array['insert', 'update', 'delete', 'truncate']) p (privilege)
  where c.relnamespace = 'qwf'::regnamespace and c.relkind in ('r', 'v', 'p')
    and r.rolname in ('qwf_admin', 'qwf_producer', 'qwf_worker', 'qwf_viewer')
    and has_table_privilege(r.oid, c.oid, p.privilege)
    and (c.relname, r.rolname) <> ('worker_controls', 'qwf_admin')
$$, 'only functions write rows, except worker_controls, which qwf_admin may write');
select is_empty($$
  select rolname from pg_roles
  where rolname in ('qwf_admin', 'qwf_producer', 'qwf_worker', 'qwf_viewer')
    and has_schema_privilege(oid, 'qwf', 'create')
$$, 'and nobody can create a function there');
