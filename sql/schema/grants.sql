-- Rights to read every table and view, and a check of all bodies. It ends every deploy. qwf_viewer
-- reads everything except the tokens of running jobs: who can read a job cannot end it. qwf_admin
-- reads those too, is a member of the other three roles, and writes worker_controls, the only table
-- written by hand. PUBLIC can execute nothing in schema _qwf, on which no role has USAGE: whoever
-- can execute a function there calls it through a view.

revoke all on all routines in schema _qwf from public;

do $$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'qwf_viewer') then
    grant select on all tables in schema qwf to qwf_viewer;
    grant select on sequence qwf.last_tick, qwf.jobs_id_seq, qwf.runs_id_seq to qwf_viewer;
    revoke select on qwf.jobs from qwf_viewer;
    execute (
      select format('grant select (%s) on qwf.jobs to qwf_viewer',
        string_agg(quote_ident(a.attname), ', ' order by a.attnum))
      from pg_catalog.pg_attribute a
      where a.attrelid = 'qwf.jobs'::regclass and a.attnum > 0 and not a.attisdropped
        and a.attname <> 'token');
  end if;
end $$;

do $$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'qwf_admin') then
    grant select on qwf.jobs to qwf_admin;
    grant select, insert, update, delete on qwf.worker_controls to qwf_admin;
  end if;
end $$;

do $$
begin
  if not (pg_catalog.pg_has_role('qwf_admin', 'qwf_producer', 'member')
      and pg_catalog.pg_has_role('qwf_admin', 'qwf_worker', 'member')
      and pg_catalog.pg_has_role('qwf_admin', 'qwf_viewer', 'member')) then
    grant qwf_producer, qwf_worker, qwf_viewer to qwf_admin;
  end if;
exception
  when insufficient_privilege or undefined_object then
    raise notice 'qwf_admin is not a member of the other roles'
      using hint = 'let an administrator run: '
        'grant qwf_producer, qwf_worker, qwf_viewer to qwf_admin';
end $$;

call _qwf.check_bodies();
