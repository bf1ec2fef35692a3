-- The exceptions are what views call with the rights of their reader.
select is_empty($$
  select p.oid::regprocedure, r.rolname
  from pg_proc p, pg_roles r
  where p.pronamespace = '_qwf'::regnamespace
    and p.proname not in ('as_number', 'late_after', 'metric_lines', 'metrics_of',
      'postgres_metrics', 'spell_enough', 'spell_turn')
    and r.rolname like 'qwf\_%' and has_function_privilege(r.oid, p.oid, 'execute')
$$, 'not even an administrator');
