-- Deploy qwf:functions/health/_doctor_roles
-- Purpose: Finds roles that are missing, and rights that somebody has or lacks against the plan.
-- Called by: _doctor_findings.

begin;

create function _qwf.doctor_roles() returns setof _qwf.finding
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_again constant text := 'as the owner of this database: qwf migrate grants | psql ADDRESS';
  v_viewer oid := (select r.oid from pg_roles r where r.rolname = 'qwf_viewer');
begin
  return query
  select 'problem', 'role ' || n.name, format('role %s is missing', n.name),
    format('create role %s nologin;  then, %s', n.name, v_again)
  from unnest(array['qwf_admin', 'qwf_producer', 'qwf_worker', 'qwf_viewer'])
    with ordinality n (name, place)
  where not exists (select from pg_roles r where r.rolname = n.name)
  order by n.place;
  return query
  select 'note', 'database', 'every login of this server may connect to the database: it can '
    'listen, fill the queue of notifications, and use up the memory for locks',
    format('grant connect on database %1$I to qwf_producer, qwf_worker, qwf_viewer;'
      ' revoke connect on database %1$I from public;', d.datname)
  from pg_database d
  where d.datname = current_database() and exists (
    select from aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
    where a.grantee = 0 and a.privilege_type = 'CONNECT');
  return query
  select * from _qwf.first_few(array(
    select row('problem', 'function ' || f.name, 'everybody may execute ' || f.name,
      format('revoke all on function %s from public;', f.name))::_qwf.finding
    from pg_proc p cross join lateral (select p.oid::regprocedure::text as name) f
    where p.pronamespace in ('qwf'::regnamespace, '_qwf'::regnamespace) and exists (
      select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
      where a.grantee = 0)));
  if v_viewer is null then
    return;
  end if;
  return query
  select * from _qwf.first_few(array(
    select row('problem', 'qwf.' || c.relname, 'qwf_viewer may not read qwf.' || c.relname,
      v_again)::_qwf.finding
    from pg_class c
    where c.relnamespace = 'qwf'::regnamespace and c.relkind in ('r', 'v')
      and not has_any_column_privilege(v_viewer, c.oid, 'select')));
  return query
  select 'problem', 'qwf.jobs',
    'qwf_viewer may read the tokens of running jobs, and could finish them', v_again
  where has_column_privilege(v_viewer, 'qwf.jobs', 'token', 'select');
end $$;

commit;
