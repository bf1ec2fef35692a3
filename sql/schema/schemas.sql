-- The two schemas, the four group roles, and the procedures that end a deploy. Schema qwf is the
-- API: functions, tables, views and the types that a caller meets. Schema _qwf holds the private
-- functions and types; no role has USAGE on it.

do $$
begin
  if getdatabaseencoding() <> 'UTF8' then  -- logs, errors and names may have any character
    raise exception using errcode = '0A000', message = 'qwf needs a database that is UTF8',
      detail = format('This one is %s.', getdatabaseencoding()),
      hint = 'create one, and deploy there: createdb --encoding UTF8 --template template0 NAME';
  end if;
end $$;

create schema qwf;
comment on schema qwf is
  'Workflow engine and job queue: definitions, runs, jobs, workers. Call functions, read views.';

create schema _qwf;
comment on schema _qwf is
  'Private functions and types of schema qwf. They may change in any release: call those of qwf.';

-- The four group roles. Roles belong to the cluster, so an existing role is kept. If this user
-- may not create roles, the engine still works for its owner, and a notice says what an
-- administrator has to run.
do $$
declare
  v_role text;
begin
  foreach v_role in array array['qwf_admin', 'qwf_producer', 'qwf_worker', 'qwf_viewer'] loop
    begin
      if not exists (select from pg_catalog.pg_roles r where r.rolname = v_role) then
        execute format('create role %I nologin', v_role);
      end if;
      execute format('grant usage on schema qwf to %I', v_role);
    exception
      when insufficient_privilege then
        raise notice 'role % not created: no CREATEROLE', v_role
          using hint = format('let an administrator run: create role %I nologin; '
            'then, as the owner of the schema: qwf migrate grants | psql', v_role);
      when duplicate_object or unique_violation then  -- another deploy has just created it
        execute format('grant usage on schema qwf to %I', v_role);
    end;
  end loop;
end $$;

create procedure _qwf.allow(p_function regproc, variadic p_roles text[])
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_role text;
begin
  execute format('revoke all on function %s from public', p_function);
  for v_role in
    select r.rolname from pg_roles r where r.rolname = any (p_roles || '{qwf_admin}'::text[])
  loop
    execute format('grant execute on function %s to %I', p_function, v_role);
  end loop;
end $$;
comment on procedure _qwf.allow is
  'Lets only qwf_admin and the named roles, if they exist, execute a function. Called by '
  'migrations only.';

create procedure _qwf.check_bodies()
language plpgsql
set search_path = pg_catalog, pg_temp
set check_function_bodies = on
as $$
declare
  v_function record;
  v_context text;
begin
  for v_function in
    select p.oid, l.lanname
    from pg_proc p
    join pg_language l on l.oid = p.prolang
    where p.pronamespace in ('qwf'::regnamespace, '_qwf'::regnamespace) and p.prosqlbody is null
  loop
    begin
      if v_function.lanname = 'plpgsql' then
        perform plpgsql_validator(v_function.oid);
      else
        perform fmgr_sql_validator(v_function.oid);
      end if;
    exception
      when others then
        get stacked diagnostics v_context = pg_exception_context;
        raise exception using errcode = sqlstate,
          message = format('%s: %s', v_function.oid::regprocedure, sqlerrm), detail = v_context;
    end;
  end loop;
end $$;
comment on procedure _qwf.check_bodies is
  'Parses the body of every function, and refuses the deploy if one is wrong: a body may name what '
  'a later script makes, so none is parsed when it is created. Called by migrations only.';
