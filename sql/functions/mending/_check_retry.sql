-- Deploy qwf:functions/mending/_check_retry
-- Purpose: Refuses to retry a run that is not over, that is a step of another run,
--   of which a body still runs, or that is erased.
-- Raises: QW002.
-- Called by: retry_plan, retry_run.

begin;

create function _qwf.check_retry(p_run qwf.runs) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_above bigint := (select j.run_id from qwf.jobs j where j.id = p_run.parent_id);
begin
  if p_run.finished_at is null then
    raise exception using errcode = 'QW002', message = 'the run is not over',
      detail = format('run %s is %s', p_run.id, p_run.status),
      hint = case p_run.status
        when 'awaiting_input'
          then 'cancel it first: the retry reuses what is right, and asks its questions again'
        else 'wait for its end, or cancel it first' end;
  elsif p_run.depth > 0 and v_above is null then
    raise exception using errcode = 'QW002', message = 'the step of the run is gone',
      detail = format('run %s ran for job %s, which is deleted', p_run.id, p_run.parent_id),
      hint = 'its workflow may be enqueued by itself: qwf.enqueue_run()';
  elsif v_above is not null then  -- its own result belongs to that one
    raise exception using errcode = 'QW002', message = format('the run is part of run %s', v_above),
      detail = format('run %s ran for a step of run %s', p_run.id, v_above),
      hint = format('retry that run: select qwf.retry_run(%s)', v_above);
  elsif exists (select from qwf.jobs j where j.run_id = p_run.id and j.finished_at is null) then
    raise exception using errcode = 'QW002', message = 'a body of the run is still running',
      detail = format('run %s is %s', p_run.id, p_run.status),
      hint = 'it was told to stop; try again soon, at the latest when its lease has lapsed';
  end if;
  perform _qwf.refuse_erased(p_run.parent_id || array(
    select j.id from qwf.jobs j where j.run_id = p_run.id));
end $$;

commit;
