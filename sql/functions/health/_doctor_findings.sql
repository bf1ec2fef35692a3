-- Deploy qwf:functions/health/_doctor_findings
-- Purpose: Makes one check of doctor().
-- Called by: doctor.

begin;

create function _qwf.doctor_findings(p_check text) returns setof _qwf.finding
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  case p_check
    when 'server' then return query select * from _qwf.doctor_server();
    when 'roles' then return query select * from _qwf.doctor_roles();
    when 'settings' then return query select * from _qwf.doctor_settings();
    when 'vacuum' then return query select * from _qwf.doctor_vacuum();
    when 'snapshots' then return query select * from _qwf.doctor_snapshots();
    when 'tick' then
      return query select * from _qwf.doctor_tick() union all select * from _qwf.doctor_events();
    when 'runs' then return query select * from _qwf.doctor_runs();
    when 'invariants' then return query select * from _qwf.doctor_invariants();
    when 'queues' then
      return query select * from _qwf.doctor_queues() union all select * from _qwf.doctor_tasks();
    when 'workers' then
      return query select * from _qwf.doctor_workers();
      return query select * from _qwf.doctor_reports();
    when 'models' then return query select * from _qwf.doctor_models();
    when 'schedules' then return query select * from _qwf.doctor_schedules();
    when 'late' then return query select * from _qwf.doctor_late();
    when 'alerts' then return query select * from _qwf.doctor_alerts();
    when 'options' then return query select * from _qwf.doctor_options();
    when 'folders' then return query select * from _qwf.doctor_folders();
  end case;
end $$;

commit;
