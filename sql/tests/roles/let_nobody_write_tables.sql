begin;
select plan(2);

select is_empty($$
  select c.oid::regclass, r.rolname, p.privilege
  from pg_class c, pg_roles r, unnest(array['insert', 'update', 'delete', 'truncate']) p (privilege)
  where c.relnamespace = 'qwf'::regnamespace and c.relkind in ('r', 'v', 'p')
    and r.rolname in ('qwf_admin', 'qwf_producer', 'qwf_worker', 'qwf_viewer')
    and has_table_privilege(r.oid, c.oid, p.privilege)
    and (c.relname, r.rolname) <> ('worker_controls', 'qwf_admin')
$$, 'rows are written by functions alone, but for worker_controls by qwf_admin');
select is_empty($$
  select rolname from pg_roles
  where rolname in ('qwf_admin', 'qwf_producer', 'qwf_worker', 'qwf_viewer')
    and has_schema_privilege(oid, 'qwf', 'create')
$$, 'and nobody can put a function of his own there');

select * from finish();
rollback;
