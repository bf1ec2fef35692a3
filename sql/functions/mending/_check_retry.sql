-- Deploy qwf:functions/mending/_check_retry
-- Purpose: Refuses to retry a run that is not over, that is a step of another run,
--   of which a body still runs, or that is erased.
-- Guarantees: A run that only waits for answers may go back to a node that has ended and is named:
--   no body runs or is about to. Then nothing can be taken back first.
-- Raises: QW002.
-- Called by: retry_plan, retry_run.

begin;

create function _qwf.check_retry(
  p_run qwf.runs, p_from_node text, p_completed text default null)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_above bigint := (select j.run_id from qwf.jobs j where j.id = p_run.parent_id);
begin
  if p_run.status = 'awaiting_input' and p_run.parent_id is null and exists (
      select from qwf.jobs j
      where j.run_id = p_run.id and j.node_id = p_from_node and j.finished_at is not null)
    and p_run.then_retry is null and p_completed is distinct from 'compensate' and not exists (
      select from qwf.jobs j
      where j.run_id = p_run.id and j.finished_at is null and not (
        j.status = 'awaiting_input' and j.queue is null
        or j.status = 'blocked' and j.elements is null))
  then
    null;  -- its questions are asked again if they come after that node
  elsif p_run.finished_at is null then
    raise exception using errcode = 'QW002', message = 'the run is not over',
      detail = format('run %s is %s', p_run.id, p_run.status),
      hint = case p_run.status
        when 'awaiting_input'
          then format('name the node to run again, if no body runs: '
            'select qwf.retry_run(%s, ''step/node''); or cancel the run first', p_run.id)
        else 'wait for its end, or cancel it first' end;
  elsif p_run.depth > 0 and v_above is null then
    raise exception using errcode = 'QW002', message = 'the step of the run is gone',
      detail = format('run %s ran for job %s, which is deleted', p_run.id, p_run.parent_id),
      hint = 'its workflow may be enqueued by itself: qwf.enqueue_run()';
  elsif v_above is not null then  -- its own result belongs to that one
    raise exception using errcode = 'QW002', message = format('the run is part of run %s', v_above),
      detail = format('run %s ran for a step of run %s', p_run.id, v_above),
      hint = format('retry that run: select qwf.retry_run(%s)', v_above);
  elsif exists (
    select from qwf.jobs j where j.run_id = p_run.id and j.finished_at is null) then
    raise exception using errcode = 'QW002', message = 'a body of the run is still running',
      detail = format('run %s is %s', p_run.id, p_run.status),
      hint = 'it was told to stop; try again soon, at the latest when its lease has lapsed';
  end if;
  perform _qwf.refuse_erased(p_run.parent_id || array(
    select j.id from qwf.jobs j where j.run_id = p_run.id));
end $$;

commit;
