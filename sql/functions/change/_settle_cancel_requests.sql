-- Deploy qwf:functions/change/_settle_cancel_requests
-- Purpose: Settles requests to cancel jobs that are no longer running.
-- Guarantees: A request that committed while its job was requeued or ended is neither lost nor kept
--   forever, nor is what else was written about a job that has left no row. A request that cannot
--   be settled does not stop the others.
-- Locks: requests, runs and jobs that are free.
-- Called by: _tick_part.

begin;

create function _qwf.settle_cancel_requests() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_request record;
  v_kind text;
  v_count int := 0;
begin
  for v_request in
    select c.job_id, c.reason, j.id is null as gone, j.run_id, j.finished_at
    from qwf.cancel_requests c left join qwf.jobs j on j.id = c.job_id
    where j.id is null or j.status <> 'running'
    limit 100
    for no key update of c skip locked
  loop
    begin
      if v_request.gone then  -- its queue keeps no completed jobs
        perform _qwf.delete_jobs(array[v_request.job_id]);
      elsif v_request.finished_at is null then
        -- a node changes only under the lock of its run
        perform from qwf.runs r where r.id = v_request.run_id for no key update skip locked;
        continue when v_request.run_id is not null and not found;
        v_kind := _qwf.cancel_waiting(v_request.job_id, v_request.reason);
        continue when v_kind is null;
        if v_request.run_id is not null then
          perform _qwf.apply_events(_qwf.take_events(array[v_request.run_id])
            || array[(v_request.run_id, v_request.job_id, v_kind)::_qwf.event]);
        end if;
      end if;
      delete from qwf.cancel_requests c where c.job_id = v_request.job_id;
      v_count := v_count + 1;
    exception
      when others then
        raise warning using message = format('job %s cannot be cancelled', v_request.job_id),
          detail = sqlstate || ' ' || sqlerrm;
    end;
  end loop;
  return v_count;
end $$;

commit;
