-- Deploy qwf:functions/mending/_notice_versions
-- Purpose: Tells who retries a run with its own definitions that newer ones are current, or that it
--   moves to them.
-- Called by: retry_plan, retry_run.

begin;

create function _qwf.notice_versions(p_run qwf.runs, p_latest boolean) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_old record;
  v_executes text;
begin
  select d.kind, d.name, d.version, d.current_version into v_old
  from qwf.run_definitions d
  where d.run_id = p_run.id and d.version <> d.current_version
  order by d.kind desc, d.name  -- the workflow first
  limit 1;
  if not found then
    return;
  end if;
  v_executes := format('%s@%s', p_run.workflow, p_run.workflow_version) || case v_old.kind
    when 'pipeline' then format(' with pipeline %s@%s', v_old.name, v_old.version) else '' end;
  if p_latest then
    raise notice using message = format('run %s executes %s and moves to version %s',
      p_run.id, v_executes, v_old.current_version);
  else
    raise notice using
      message = format('run %s executes %s, version %s is current',
        p_run.id, v_executes, v_old.current_version),
      hint = format('to retry it with the definitions of now: '
        'select qwf.retry_run(%s, latest => true)', p_run.id);
  end if;
end $$;

commit;
