-- The two exceptions are what the view metrics calls with the rights of its reader.
begin;
select plan(1);

select is_empty($$
  select p.oid::regprocedure, r.rolname
  from pg_proc p, pg_roles r
  where p.pronamespace = '_qwf'::regnamespace
    and p.proname not in ('metrics_of', 'postgres_metrics')
    and r.rolname like 'qwf\_%' and has_function_privilege(r.oid, p.oid, 'execute')
    and not exists (
      select from pg_depend d join pg_rewrite w on w.oid = d.objid
      join pg_class v on v.oid = w.ev_class
      where d.classid = 'pg_rewrite'::regclass and d.refclassid = 'pg_proc'::regclass
        and d.refobjid = p.oid and v.relnamespace = 'qwf'::regnamespace)
$$, 'not even an administrator, but what a view calls for its readers');

select * from finish();
rollback;
