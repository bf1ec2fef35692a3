-- Verify qwf:schema/grants

begin;

select 1 / (case
  when not exists (select from pg_catalog.pg_roles r where r.rolname = 'qwf_viewer') then 1
  when has_column_privilege('qwf_viewer', 'qwf.jobs', 'id', 'select')
    and not has_column_privilege('qwf_viewer', 'qwf.jobs', 'token', 'select') then 1
  else 0 end);

select 1 / (case
  when not exists (select from pg_catalog.pg_roles r where r.rolname = 'qwf_admin') then 1
  when has_table_privilege('qwf_admin', 'qwf.worker_controls', 'insert, update') then 1
  else 0 end);

rollback;
