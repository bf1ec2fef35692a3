-- Operators and functions that stand in for those of pg_catalog: each notes whose rights it got, then
-- does the same.
create schema evil;
create table evil.caught (what text, who text);
grant usage on schema evil to public;
grant insert on evil.caught to public;
do $traps$
declare
  v_types constant oid[] := array['int4', 'int8', 'text', 'jsonb', 'timestamptz', 'interval', 'uuid',
    'bool', 'numeric', 'name', 'real', 'float8', 'int8[]', 'text[]', 'qwf.job_status',
    'qwf.run_status']::regtype[]::oid[];
  v record;
begin
  for v in
    select p.proname as name, format('f%s', p.oid) as inner_name,
      pg_get_function_identity_arguments(p.oid) as args, format_type(p.prorettype, null) as result,
      array(select format('$%s', n) from generate_series(1, p.pronargs) n) as places,
      p.proretset as is_set,
      array(select format_type(t, null) from unnest(p.proargtypes::oid[]) t) as types
    from pg_proc p
    where p.pronamespace = 'pg_catalog'::regnamespace and p.prokind = 'f' and p.provariadic = 0
      and p.proargtypes::oid[] <@ v_types and p.proallargtypes is null
      and p.prorettype = any (v_types || 'void'::regtype::oid)
      and exists (
        select from pg_proc q
        where q.pronamespace in ('qwf'::regnamespace, '_qwf'::regnamespace)
          and coalesce(q.prosrc, '') ~ format('\m%s\(', p.proname))
  loop
    execute format(
      'create function evil.%I(%s) returns %s %s language plpgsql as $f$ begin
         insert into evil.caught values (%L, current_user); %s pg_catalog.%I(%s); %s end $f$',
      v.name, array_to_string(v.types, ', '), case when v.is_set then 'setof' else '' end,
      v.result, v.name,
      case when v.result = 'void' then 'perform' when v.is_set then 'return query select *  from'
        else 'return' end,
      v.name, array_to_string(v.places, ', '), '');
  end loop;
  for v in
    select o.oprname as name, l.t as l, r.t as r, format_type(o.oprresult, null) as result,
      format('o%s_%s_%s', o.oid, l.t, r.t) as proc
    from pg_operator o
    cross join unnest(v_types) l (t) cross join unnest(v_types) r (t)
    where o.oprnamespace = 'pg_catalog'::regnamespace and o.oprcode <> 0
      and (o.oprleft = l.t or o.oprleft = 'anyenum'::regtype and l.t in (
        'qwf.job_status'::regtype, 'qwf.run_status'::regtype))
      and (o.oprright = r.t or o.oprright = 'anyenum'::regtype and l.t = r.t and r.t in (
        'qwf.job_status'::regtype, 'qwf.run_status'::regtype))
      and o.oprname in ('=', '<>', '<', '>', '<=', '>=', '+', '-', '*', '||', '->', '->>', '@>',
        '?', '~', '!~', '^@', '#>', '%', '/')
  loop
    execute format(
      'create function evil.%I(%s, %s) returns %s language plpgsql as $f$ begin
         insert into evil.caught values (%L, current_user);
         return $1 operator(pg_catalog.%s) $2; end $f$',
      v.proc, v.l::regtype, v.r::regtype, v.result, v.name, v.name);
    execute format('create operator evil.%s (function = evil.%I, leftarg = %s, rightarg = %s)',
      v.name, v.proc, v.l::regtype, v.r::regtype);
  end loop;
end $traps$;
grant execute on all functions in schema evil to public;
