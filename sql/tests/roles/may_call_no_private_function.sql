begin;
select plan(1);

select is_empty($$
  select p.oid::regprocedure, r.rolname
  from pg_proc p, pg_roles r
  where (p.pronamespace = '_qwf'::regnamespace
      or p.pronamespace = 'qwf'::regnamespace and p.prorettype = 'trigger'::regtype)
    and r.rolname like 'qwf\_%' and has_function_privilege(r.oid, p.oid, 'execute')
$$, 'not even an administrator');

select * from finish();
rollback;
