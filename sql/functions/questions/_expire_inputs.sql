-- Deploy qwf:functions/questions/_expire_inputs
-- Purpose: Ends questions that nobody answered in time (question), or waits for a signal (signal).
-- Guarantees: The default of a question becomes its answer; without a default the node
--   fails. Leaves a question whose run is locked to the next call, and those of an overdue run: it
--   fails. One that cannot be expired does not stop the others.
-- Locks: runs that nobody has locked; then as answer_job.
-- Notifies: sleepers of the queues that got work.
-- Called by: _tick_part.

begin;

create function _qwf.expire_inputs(p_max_inputs int default 100, p_kind text default 'question')
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_material = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := qwf.now();
  v_due record;
  v_job qwf.jobs;
  v_count int := 0;
begin
  for v_due in
    select j.id
    from qwf.waits w join qwf.jobs j on j.id = w.job_id join qwf.runs r on r.id = j.run_id
    where w.kind = p_kind and w.at <= v_now
      and (r.deadline_at <= v_now and r.ending is null) is not true  -- it is about to fail
    order by w.at
    limit p_max_inputs
    for no key update of r skip locked
  loop
    begin
      select j.* into v_job from qwf.jobs j  -- again, under the lock: an answer may have come first
      where j.id = v_due.id and j.status = 'awaiting_input' and j.expires_at <= v_now;
      continue when not found;
      insert into _qwf.event_log (at, run_id, job_id, kind, detail)
      values (v_now, v_job.run_id, v_job.id, 'expired',
        jsonb_build_object('asked_at', v_job.queued_at, 'expires', v_job.input_spec -> 'expires'));
      if v_job.input_spec ? 'default' then
        perform _qwf.apply_answer(v_job, v_job.input_spec -> 'default', true);
      else
        update qwf.jobs j set
          status = 'failed', finished_at = v_now,
          last_error = format('%s within %s', case p_kind when 'question' then 'nobody answered'
            else 'no signal ' || (j.input_spec ->> 'signal') end, j.input_spec ->> 'expires')
        where j.id = v_job.id;
        delete from qwf.waits w where w.job_id = v_job.id;
        perform _qwf.announce_trouble(array[v_job.id]);
        perform _qwf.apply_events(
          _qwf.take_events(array[v_job.run_id])
          || array[(v_job.run_id, v_job.id, 'aborted')::_qwf.event]);
      end if;
      v_count := v_count + 1;
    exception
      when others then
        raise warning using message = 'input cannot be expired',
          detail = format('job %s: %s %s', v_due.id, sqlstate, sqlerrm);
    end;
  end loop;
  return v_count;
end $$;

commit;
