-- Revert qwf:schema/grants

begin;

do $$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'qwf_viewer') then
    revoke select on all tables in schema qwf from qwf_viewer;
  end if;
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'qwf_admin') then
    revoke all on qwf.jobs, qwf.worker_controls from qwf_admin;
  end if;
end $$;

commit;
