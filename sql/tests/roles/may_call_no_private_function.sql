-- The two exceptions are what the view metrics calls with the rights of its reader.
begin;
select plan(1);

select is_empty($$
  select p.oid::regprocedure, r.rolname
  from pg_proc p, pg_roles r
  where p.pronamespace = '_qwf'::regnamespace
    and p.proname not in ('metrics_of', 'postgres_metrics')
    and r.rolname like 'qwf\_%' and has_function_privilege(r.oid, p.oid, 'execute')
$$, 'not even an administrator');

select * from finish();
rollback;
