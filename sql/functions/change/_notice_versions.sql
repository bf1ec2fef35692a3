-- Deploy qwf:functions/change/_notice_versions
-- Purpose: Tells who retries a run with its own definitions that newer ones are current.
-- Called by: retry_plan, retry_run.

begin;

create function _qwf.notice_versions(p_run qwf.runs) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_old record;
begin
  select d.kind, d.name, d.version, d.current_version into v_old
  from qwf.run_definitions d
  where d.run_id = p_run.id and d.version <> d.current_version
  order by d.kind desc, d.name  -- the workflow first
  limit 1;
  if found then
    raise notice using
      message = case v_old.kind
        when 'workflow' then format('run %s executes %s@%s, version %s is current',
          p_run.id, v_old.name, v_old.version, v_old.current_version)
        else format('run %s executes %s@%s with pipeline %s@%s, version %s is current', p_run.id,
          p_run.workflow, p_run.workflow_version, v_old.name, v_old.version,
          v_old.current_version) end,
      hint = format('to retry it with the definitions of now: '
        'select qwf.retry_run(%s, latest => true)', p_run.id);
  end if;
end $$;

commit;
