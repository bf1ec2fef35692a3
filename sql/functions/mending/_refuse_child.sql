-- Deploy qwf:functions/mending/_refuse_child
-- Purpose: Refuses to retry a run that is a step of another run: its own result belongs to that
--   one.
-- Raises: QW002.
-- Called by: _check_retry.

begin;

create function _qwf.refuse_child(p_run qwf.runs) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_above bigint := (select j.run_id from qwf.jobs j where j.id = p_run.parent_id);
begin
  if p_run.depth > 0 and v_above is null then
    raise exception using errcode = 'QW002', message = 'the step of the run is gone',
      detail = format('run %s ran for job %s, which is deleted', p_run.id, p_run.parent_id),
      hint = 'its workflow may be enqueued by itself: qwf.enqueue_run()';
  elsif v_above is not null then
    raise exception using errcode = 'QW002', message = format('the run is part of run %s', v_above),
      detail = format('run %s ran for a step of run %s', p_run.id, v_above),
      hint = format('retry that run: select qwf.retry_run(%s)', v_above);
  end if;
end $$;

commit;
